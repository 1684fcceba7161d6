//! Everything outside of a closure: files, processes, the network, the clock.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::address::Endpoint;
use crate::process::{self, Ran};
use crate::tls::{self, Secured};

/// What a closure needs of the machine that it runs on. Unless they say so, changes need not be on the disk when they
/// return; [`Host::synchronise`] puts them there.
pub trait Host {
    /// What a file holds; nothing if it is not there.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;
    /// What is in a directory, in the order of names; nothing if it is not there.
    fn list(&self, path: &Path) -> io::Result<Vec<Entry>>;
    /// What is at a path.
    fn look(&self, path: &Path) -> io::Result<Option<Entry>>;
    /// Where a symbolic link leads; nothing if it is not there.
    fn link(&self, path: &Path) -> io::Result<Option<PathBuf>>;
    /// The way to something without any links in it.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;
    /// Makes a directory, if it is not there.
    fn make_directory(&self, path: &Path, mode: u32) -> io::Result<()>;
    /// Writes a new file.
    fn write(&self, path: &Path, content: &[u8], mode: u32) -> io::Result<()>;
    /// Makes a symbolic link.
    fn make_link(&self, path: &Path, to: &Path) -> io::Result<()>;
    /// Gives something the name of another, which is replaced in the same instant.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file, or a directory with all that is in it, if it is there.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Gives files to a user and group.
    fn give(&self, path: &Path, user: u32, group: u32) -> io::Result<()>;
    /// Says who may do what with something.
    fn allow(&self, path: &Path, mode: u32) -> io::Result<()>;
    /// Files, with what is in them, and directories, with the names in them, are on the disk when this returns.
    fn synchronise(&self, paths: &[PathBuf]) -> io::Result<()>;
    /// Whether we may do everything here, and so should not.
    fn is_privileged(&self) -> bool;
    /// Runs a command, at most so long.
    fn run(&self, command: &[String], limit: Duration) -> io::Result<Ran>;
    /// Sends a signal to a process; whether it is there.
    fn signal(&self, process: u32, signal: Signal) -> io::Result<bool>;
    /// The command line of a process, if it is there.
    fn process(&self, process: u32) -> Option<String>;
    /// The processes that a process started.
    fn children(&self, process: u32) -> Vec<u32>;
    /// The processes that have a file open, as far as we may know.
    fn holding(&self, path: &Path) -> Vec<u32>;
    /// How many bytes can still be written where something is.
    fn room(&self, path: &Path) -> io::Result<u64>;
    /// The addresses that a name leads to, as this machine sees it.
    fn addresses(&self, name: &str, limit: Duration) -> io::Result<Vec<IpAddr>>;
    /// Whether nobody listens at an endpoint, and we could.
    fn try_endpoint(&self, endpoint: Endpoint) -> io::Result<()>;
    /// Sends bytes, and receives what is wanted, within a time.
    fn exchange(
        &self,
        endpoint: Endpoint,
        bytes: &[u8],
        wanted: Wanted,
        limit: Duration,
    ) -> io::Result<Vec<u8>>;
    /// The same where TLS is spoken, to the host of a name, or to whoever is there.
    fn exchange_secured(
        &self,
        endpoint: Endpoint,
        named: Option<&str>,
        bytes: &[u8],
        wanted: Wanted,
        limit: Duration,
    ) -> io::Result<Secured>;
    /// The time in milliseconds since 1970.
    fn now(&self) -> u64;
    /// Waits.
    fn wait(&self, time: Duration);
}

/// Something in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// How many bytes it has, if it is a file.
    pub size: u64,
    /// Who may do what with it.
    pub mode: u32,
    /// Whose it is.
    pub owner: u32,
}

/// What something in a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, a socket or a pipe.
    Other,
}

/// How much of an answer somebody wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// What is said before its content, which may never end.
    Head,
    /// All, until the other side closes.
    Whole,
}

impl Wanted {
    /// Receives it.
    pub(crate) fn receive(self, mut from: impl Read) -> io::Result<Vec<u8>> {
        let mut received = Vec::new();
        if self == Wanted::Whole {
            from.take(LONGEST).read_to_end(&mut received)?;
            return Ok(received);
        }
        let mut buffer = [0; 4096];
        while !received.windows(4).any(|four| four == b"\r\n\r\n") {
            match from.read(&mut buffer)? {
                0 => break,
                length if received.len() + length <= LONGEST_HEAD => {
                    received.extend_from_slice(&buffer[..length]);
                }
                _ => return Err(ErrorKind::InvalidData.into()),
            }
        }
        Ok(received)
    }
}

/// What a process can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// To end.
    End,
    /// To end at once.
    Kill,
    /// To read its configuration again, as Apache understands it.
    User1,
    /// To read its configuration again, as nginx understands it.
    HangUp,
}

/// The machine itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Machine;

/// No file that a closure reads is longer.
const LONGEST: u64 = 4 << 30;
/// Nobody says more before the content of an answer.
const LONGEST_HEAD: usize = 1 << 20;
/// If so many files are to be on the disk, it is told once for all.
const MANY: usize = 64;

impl Host for Machine {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let mut content = Vec::new();
        let file = match fs::File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).about(path),
        };
        let read = file.take(LONGEST + 1).read_to_end(&mut content);
        read.about(path)?;
        match content.len() as u64 > LONGEST {
            true => Err(ErrorKind::FileTooLarge.into()),
            false => Ok(Some(content)),
        }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        let read = match fs::read_dir(path) {
            Ok(read) => read,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error).about(path),
        };
        let mut entries = Vec::new();
        for entry in read {
            let entry = entry?;
            let name = entry.file_name().into_string();
            let name = name.map_err(|name| io::Error::other(format!("{name:?} is not UTF-8")))?;
            entries.push(seen(name, &entry.metadata()?));
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    fn look(&self, path: &Path) -> io::Result<Option<Entry>> {
        match fs::symlink_metadata(path) {
            Ok(metadata) => {
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                Ok(Some(seen(name.into_owned(), &metadata)))
            }
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).about(path),
        }
    }

    fn link(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        match fs::read_link(path) {
            Ok(to) => Ok(Some(to)),
            // It is not there, or no link.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput) => {
                Ok(None)
            }
            Err(error) => Err(error).about(path),
        }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path).about(path)
    }

    fn make_directory(&self, path: &Path, mode: u32) -> io::Result<()> {
        match fs::create_dir(path) {
            Ok(()) => set_mode(path, mode),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error).about(path),
        }
    }

    fn write(&self, path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
        // What is left of an earlier attempt may be read-only.
        self.remove(path)?;
        let mut options = OpenOptions::new();
        let file = private(options.write(true).create_new(true)).open(path);
        file.about(path)?.write_all(content).about(path)?;
        set_mode(path, mode)
    }

    fn make_link(&self, path: &Path, to: &Path) -> io::Result<()> {
        self.remove(path)?;
        #[cfg(unix)]
        return std::os::unix::fs::symlink(to, path).about(path);
        #[cfg(not(unix))]
        return Err(io::Error::other(format!(
            "no link to {} can be made",
            to.display()
        )));
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to).about(to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let removed = match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
            Ok(_) => fs::remove_file(path),
            Err(error) => Err(error),
        };
        match removed {
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            removed => removed.about(path),
        }
    }

    fn give(&self, path: &Path, user: u32, group: u32) -> io::Result<()> {
        #[cfg(unix)]
        std::os::unix::fs::lchown(path, Some(user), Some(group)).about(path)?;
        let _ = (path, user, group);
        Ok(())
    }

    fn allow(&self, path: &Path, mode: u32) -> io::Result<()> {
        set_mode(path, mode)
    }

    fn synchronise(&self, paths: &[PathBuf]) -> io::Result<()> {
        #[cfg(unix)]
        {
            if paths.len() >= MANY {
                let file = fs::File::open(&paths[0])?;
                return Ok(rustix::fs::syncfs(&file)?);
            }
            for path in paths {
                let file = fs::File::open(path).about(path)?;
                file.sync_all().about(path)?;
            }
        }
        let _ = (paths, MANY);
        Ok(())
    }

    fn is_privileged(&self) -> bool {
        #[cfg(unix)]
        return rustix::process::geteuid().is_root();
        #[cfg(not(unix))]
        return false;
    }

    fn run(&self, command: &[String], limit: Duration) -> io::Result<Ran> {
        process::run(command, limit)
    }

    fn signal(&self, process: u32, signal: Signal) -> io::Result<bool> {
        #[cfg(unix)]
        {
            use rustix::process::{Pid, Signal as Kind, kill_process};
            let kind = match signal {
                Signal::End => Kind::TERM,
                Signal::Kill => Kind::KILL,
                Signal::User1 => Kind::USR1,
                Signal::HangUp => Kind::HUP,
            };
            let Some(process) = Pid::from_raw(process as i32) else {
                return Ok(false);
            };
            match kill_process(process, kind) {
                Ok(()) => Ok(true),
                Err(rustix::io::Errno::SRCH) => Ok(false),
                Err(error) => Err(error.into()),
            }
        }
        #[cfg(not(unix))]
        {
            let _ = (process, signal);
            Err(ErrorKind::Unsupported.into())
        }
    }

    fn process(&self, process: u32) -> Option<String> {
        let line = fs::read(format!("/proc/{process}/cmdline")).ok()?;
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let line = line.trim();
        // One that has ended and was not yet buried has no command line any more.
        (!line.is_empty()).then(|| line.to_owned())
    }

    fn children(&self, process: u32) -> Vec<u32> {
        let listed = fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
        let listed = listed.unwrap_or_default();
        listed
            .split_whitespace()
            .filter_map(|child| child.parse().ok())
            .collect()
    }

    fn holding(&self, path: &Path) -> Vec<u32> {
        let names = |directory: &Path| {
            let entries = fs::read_dir(directory).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).collect::<Vec<_>>()
        };
        let holds = |process: &PathBuf| {
            let open = names(&process.join("fd"));
            open.iter()
                .any(|file| fs::read_link(file).is_ok_and(|to| to == path))
        };
        let number = |process: PathBuf| process.file_name()?.to_str()?.parse().ok();
        let processes = names(Path::new("/proc")).into_iter();
        processes.filter(holds).filter_map(number).collect()
    }

    fn room(&self, path: &Path) -> io::Result<u64> {
        #[cfg(unix)]
        {
            let about = rustix::fs::statvfs(path)?;
            Ok(about.f_bavail.saturating_mul(about.f_frsize))
        }
        #[cfg(not(unix))]
        {
            let _ = path;
            Ok(u64::MAX)
        }
    }

    fn addresses(&self, name: &str, limit: Duration) -> io::Result<Vec<IpAddr>> {
        let (tell, hear) = mpsc::channel();
        let name = name.to_owned();
        // The system may take longer than we have; it is not waited for.
        thread::spawn(move || {
            let found = (name.as_str(), 0).to_socket_addrs();
            let found = found.map(|found| found.map(|at| at.ip()).collect::<BTreeSet<_>>());
            let _ = tell.send(found.map(|found| found.into_iter().collect()));
        });
        match hear.recv_timeout(limit) {
            Ok(found) => found,
            Err(_) => Err(ErrorKind::TimedOut.into()),
        }
    }

    fn try_endpoint(&self, endpoint: Endpoint) -> io::Result<()> {
        TcpListener::bind(endpoint).map(drop)
    }

    fn exchange(
        &self,
        endpoint: Endpoint,
        bytes: &[u8],
        wanted: Wanted,
        limit: Duration,
    ) -> io::Result<Vec<u8>> {
        let mut line = Line::to(endpoint, limit)?;
        line.write_all(bytes)?;
        wanted.receive(line)
    }

    fn exchange_secured(
        &self,
        endpoint: Endpoint,
        named: Option<&str>,
        bytes: &[u8],
        wanted: Wanted,
        limit: Duration,
    ) -> io::Result<Secured> {
        tls::exchange(Line::to(endpoint, limit)?, named, bytes, wanted)
    }

    fn now(&self) -> u64 {
        // A clock that stands before 1970 stands still.
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_millis() as u64)
    }

    fn wait(&self, time: Duration) {
        thread::sleep(time);
    }
}

/// What went wrong, and with which file.
trait About<T> {
    fn about(self, path: &Path) -> io::Result<T>;
}

impl<T> About<T> for io::Result<T> {
    fn about(self, path: &Path) -> io::Result<T> {
        let named =
            |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        self.map_err(named)
    }
}

/// A connection that is over at a time, whatever comes through it.
struct Line {
    stream: TcpStream,
    end: Instant,
}

impl Line {
    fn to(endpoint: Endpoint, limit: Duration) -> io::Result<Self> {
        let end = Instant::now() + limit;
        let stream = TcpStream::connect_timeout(&endpoint, limit)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, end })
    }

    /// The time that is left.
    fn left(&self) -> io::Result<Option<Duration>> {
        match self.end.saturating_duration_since(Instant::now()) {
            Duration::ZERO => Err(ErrorKind::TimedOut.into()),
            left => Ok(Some(left)),
        }
    }
}

/// What failed, in the word for it if that is the time.
fn late(error: io::Error) -> io::Error {
    match error.kind() {
        ErrorKind::WouldBlock => ErrorKind::TimedOut.into(),
        _ => error,
    }
}

impl Read for Line {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(buffer).map_err(late)
    }
}

impl Write for Line {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes).map_err(late)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

fn seen(name: String, metadata: &fs::Metadata) -> Entry {
    let kind = match metadata.file_type() {
        kind if kind.is_file() => EntryKind::File,
        kind if kind.is_dir() => EntryKind::Directory,
        kind if kind.is_symlink() => EntryKind::Link,
        _ => EntryKind::Other,
    };
    #[cfg(unix)]
    let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions()) & 0o7777;
    #[cfg(unix)]
    let owner = std::os::unix::fs::MetadataExt::uid(metadata);
    #[cfg(not(unix))]
    let (mode, owner) = (0, 0);
    let size = metadata.len();
    Entry {
        name,
        kind,
        size,
        mode,
        owner,
    }
}

/// Whoever may not read it in the end may not read it now.
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).about(path)?;
    let _ = (path, mode);
    Ok(())
}
