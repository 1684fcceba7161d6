//! Everything outside of the agent: files, processes, the clock, chance, and waiting.

use std::fs::{self, OpenOptions};
use std::hash::{BuildHasher, Hasher};
use std::io::{self, ErrorKind, Read, Write};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hence_closure::process::{self, Ran};

/// What an agent needs of the machine that it runs on.
pub trait Host {
    /// What a file holds; nothing if it is not there.
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>>;
    /// The names of what is in a directory, sorted; none if it is not there.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;
    /// Writes a file, on the disk when this returns. If the power is cut, half of it may be there.
    fn write(&self, path: &Path, content: &[u8], mode: u32) -> io::Result<()>;
    /// Gives a file the name of another, which is replaced; on the disk when this returns.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file, if it is there.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes a directory for the owner alone, if it is not there.
    fn make_directory(&self, path: &Path) -> io::Result<()>;
    /// Runs a command, at most so long.
    fn run(&self, command: &[String], limit: Duration) -> io::Result<Ran>;
    /// The time in milliseconds since 1970.
    fn now(&self) -> u64;
    /// Any number.
    fn random(&self) -> u64;
    /// Bytes that nobody can guess.
    fn secret(&self) -> io::Result<[u8; 32]>;
    /// Waits, at most so long.
    fn wait(&self, time: Duration) -> Woken;
    /// Whether somebody wants the agent to end.
    fn is_stopped(&self) -> bool;
}

/// Why waiting ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Woken {
    /// The time is over.
    Time,
    /// There is news.
    News,
    /// The agent is to end.
    Stop,
}

/// Wakes a waiting agent.
#[derive(Clone, Default)]
pub struct Wake(Arc<(Mutex<Call>, Condvar)>);

#[derive(Default)]
struct Call {
    news: bool,
    stop: bool,
}

impl Wake {
    /// There is news.
    pub fn news(&self) {
        self.call().news = true;
        self.0.1.notify_all();
    }

    /// It is to end.
    pub fn stop(&self) {
        self.call().stop = true;
        self.0.1.notify_all();
    }

    /// Whether it is to end.
    pub fn is_stopped(&self) -> bool {
        self.call().stop
    }

    /// Until the time is over, or somebody calls. News is heard once.
    pub fn wait(&self, time: Duration) -> Woken {
        let silent = |call: &mut Call| !call.news && !call.stop;
        let waited = self.0.1.wait_timeout_while(self.call(), time, silent);
        let (mut call, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match (call.stop, std::mem::take(&mut call.news)) {
            (true, _) => Woken::Stop,
            (false, true) => Woken::News,
            (false, false) => Woken::Time,
        }
    }

    /// Until the time is over or it is to end; news stays for who waits for it.
    pub fn rest(&self, time: Duration) {
        let going = |call: &mut Call| !call.stop;
        let rested = self.0.1.wait_timeout_while(self.call(), time, going);
        drop(rested.unwrap_or_else(PoisonError::into_inner));
    }

    fn call(&self) -> MutexGuard<'_, Call> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The machine itself.
#[derive(Clone, Default)]
pub struct Machine {
    /// What wakes it.
    pub wake: Wake,
}

/// No file that an agent reads is longer.
const LONGEST: u64 = 64 << 20;

impl Host for Machine {
    fn read(&self, path: &Path) -> io::Result<Option<Vec<u8>>> {
        let mut content = Vec::new();
        let file = match fs::File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        file.take(LONGEST + 1).read_to_end(&mut content)?;
        match content.len() as u64 > LONGEST {
            true => Err(ErrorKind::FileTooLarge.into()),
            false => Ok(Some(content)),
        }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names = Vec::new();
        for entry in entries {
            names.extend(entry?.file_name().into_string());
        }
        names.sort();
        Ok(names)
    }

    fn write(&self, path: &Path, content: &[u8], mode: u32) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
            // Whoever may not read it in the end may not read it now.
            options.mode(0o600);
            // What is left of an earlier attempt may be read-only.
            self.remove(path)?;
            let mut file = options.open(path)?;
            file.write_all(content)?;
            file.set_permissions(fs::Permissions::from_mode(mode))?;
            file.sync_all()
        }
        #[cfg(not(unix))]
        {
            let _ = mode;
            let mut file = options.open(path)?;
            file.write_all(content)?;
            file.sync_all()
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)?;
        synchronise(to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        match fs::remove_file(path) {
            Ok(()) => synchronise(path),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    }

    fn run(&self, command: &[String], limit: Duration) -> io::Result<Ran> {
        process::run(command, limit)
    }

    fn now(&self) -> u64 {
        // A clock that stands before 1970 stands still.
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, |since| since.as_millis() as u64)
    }

    fn random(&self) -> u64 {
        // Every one of these has other keys.
        std::hash::RandomState::new().build_hasher().finish()
    }

    fn secret(&self) -> io::Result<[u8; 32]> {
        let mut secret = [0; 32];
        fs::File::open("/dev/urandom")?.read_exact(&mut secret)?;
        Ok(secret)
    }

    fn wait(&self, time: Duration) -> Woken {
        self.wake.wait(time)
    }

    fn is_stopped(&self) -> bool {
        self.wake.is_stopped()
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
