//! Files that results are written to: whole or not at all, and left alone if they say the same already.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use hence_model::diagnostic::{Code, Diagnostic};

use crate::Stop;

/// A result cannot be written.
pub const UNWRITABLE: Code = Code::new("output.unwritable");

/// So much of an old file is compared at a time.
const PIECE: usize = 16 << 10;

/// Makes a file say what is written, whole or not at all. One that says so already is not touched, so that whoever
/// looks at the time of its last change has nothing to do.
pub fn replace(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match fs::metadata(path) {
        // A pipe or a device stays what it is.
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
            write(&mut File::create(path)?)
        }
        // What a link leads to is replaced, not the link.
        Ok(_) if path.is_symlink() => Draft::of(&fs::canonicalize(path)?)?.made_by(write),
        _ => Draft::of(path)?.made_by(write),
    }
}

/// Makes a file say what only its owner may read, whole or not at all, whoever could read what was there.
pub fn secretly(path: &Path, content: &[u8]) -> io::Result<()> {
    let draft = Draft::of(path)?;
    // One that was left behind may be open to others.
    let _ = fs::remove_file(&draft.part);
    let mut options = File::options();
    options.write(true).create_new(true).mode(0o600);
    let written = options.open(&draft.part).and_then(|mut file| {
        file.write_all(content)?;
        file.sync_all()
    });
    let placed = written.and_then(|()| fs::rename(&draft.part, path));
    if placed.is_err() {
        let _ = fs::remove_file(&draft.part);
    }
    placed
}

/// What a file is going to say.
struct Draft<'p> {
    path: &'p Path,
    /// The file as it is, while all that was written so far, `same` bytes, stands in it.
    old: Option<File>,
    same: u64,
    /// Another file is written under this name, which is changed in the end.
    part: PathBuf,
    new: Option<File>,
}

impl<'p> Draft<'p> {
    fn of(path: &'p Path) -> io::Result<Self> {
        let name = path.file_name().ok_or(ErrorKind::IsADirectory)?;
        let mut part = name.to_os_string();
        part.push(format!(".{}.part", std::process::id()));
        Ok(Self {
            path,
            // One that cannot be read is replaced, if it can be.
            old: File::open(path).ok(),
            same: 0,
            part: path.with_file_name(part),
            new: None,
        })
    }

    fn made_by(mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let made = write(&mut self).and_then(|()| self.finish());
        if made.is_err() {
            // It may never have been made; the first error is the one to report.
            let _ = fs::remove_file(&self.part);
        }
        made
    }

    fn finish(&mut self) -> io::Result<()> {
        let is_whole = |old: &mut File| matches!(old.read(&mut [0]), Ok(0));
        if self.old.as_mut().is_some_and(is_whole) {
            return Ok(());
        }
        self.other()?;
        fs::rename(&self.part, self.path)
    }

    /// The other file, which begins with what both say.
    fn other(&mut self) -> io::Result<&mut File> {
        if let Some(ref mut new) = self.new {
            return Ok(new);
        }
        let mut new = File::create(&self.part)?;
        if self.same > 0 {
            let old = File::open(self.path)?;
            io::copy(&mut old.take(self.same), &mut new)?;
        }
        self.old = None;
        Ok(self.new.insert(new))
    }
}

impl Write for Draft<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(old) = &mut self.old
            && says(old, bytes)
        {
            self.same += bytes.len() as u64;
            return Ok(bytes.len());
        }
        self.other()?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Whether a file goes on with these bytes.
fn says(file: &mut File, bytes: &[u8]) -> bool {
    let mut piece = [0; PIECE];
    bytes.chunks(PIECE).all(|expected| {
        let piece = &mut piece[..expected.len()];
        file.read_exact(piece).is_ok() && piece == expected
    })
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
        ErrorKind::AlreadyExists => {
            refused(because("it is there already").help("remove it first, or choose another name"))
        }
        ErrorKind::IsADirectory => refused(because("it is a folder").help("name a file in it")),
        _ => Stop::Failed(Box::new(because(&error.to_string()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, SystemTime};

    fn says_after(path: &Path, pieces: &[&str]) -> String {
        let written = replace(path, |writer| {
            let mut pieces = pieces.iter();
            pieces.try_for_each(|piece| writer.write_all(piece.as_bytes()))
        });
        written.unwrap();
        fs::read_to_string(path).unwrap()
    }

    #[test]
    fn a_file_says_what_is_written_and_stays_if_it_says_so_already() {
        let directory = std::env::temp_dir().join(format!("hence-result-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("result.json");
        let long = "x".repeat(3 * PIECE + 1);
        let texts: [&[&str]; 9] = [
            &["one, two"],
            &["one, ", "three"],
            &["one, ", "three", " and more"],
            &["one, "],
            &[],
            &[&long],
            &[&long, &long],
            &[&long[..PIECE], "y"],
            &["one"],
        ];
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        for text in texts {
            assert_eq!(says_after(&path, text), text.concat());
            let file = File::options().append(true).open(&path).unwrap();
            file.set_modified(long_ago).unwrap();
            assert_eq!(says_after(&path, text), text.concat());
            assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), long_ago);
        }
        let failed = replace(&path, |writer| {
            writer.write_all(b"two")?;
            Err(ErrorKind::Other.into())
        });
        assert!(failed.is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "one");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
        fs::remove_dir_all(directory).unwrap();
    }

    /// `/dev/stdout` is a link to something that has no name if another program reads it.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_link_to_a_pipe_stays_and_what_is_written_goes_through_it() {
        use std::os::fd::AsRawFd;
        let (mut reader, writer) = io::pipe().unwrap();
        let link = format!("/proc/self/fd/{}", writer.as_raw_fd());
        replace(Path::new(&link), |file| file.write_all(b"{}")).unwrap();
        drop(writer);
        let mut read = String::new();
        reader.read_to_string(&mut read).unwrap();
        assert_eq!(read, "{}");
    }
}
