//! A store in a directory: one file, one process at a time.
//!
//! ```text
//! DIR/store.redb   the database
//! DIR/lock         held while a process has the store open
//! ```
//!
//! The database never shows half of a write, whenever the power fails. It keeps sums of its pages but does not look at them
//! when it reads, so each row carries a sum of its own here, and what is read is what was written or an error. A commit has two
//! phases: after a crash a page that does not fit its sum is damage, and never taken for a commit that did not end.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hence_ledger::Hash;
use redb::backends::FileBackend;
use redb::{
    Database, ReadTransaction, ReadableDatabase, ReadableTable, ReadableTableMetadata,
    StorageBackend, TableDefinition, WriteTransaction,
};

use crate::distrust::opened;
use crate::error::{FAILED, FORMAT, LOCKED};
use crate::sum::{summed, with_sum};
use crate::{Appended, Error, Store};

/// The database in its directory.
const FILE: &str = "store.redb";
/// While it is made, before it is one.
const UNFINISHED: &str = "store.redb.new";
/// How rows are written, and what is in them: entries, trees, sources and their ways, reports. Another number means that a
/// release that knows only this one could misread something.
pub(crate) const FORMAT_NUMBER: u64 = 1;
/// The state of a big fleet is in memory already; the database need not keep it there again.
const CACHE: usize = 32 << 20;

const META: TableDefinition<&str, u64> = TableDefinition::new("meta");
const ENTRIES: TableDefinition<u64, &[u8]> = TableDefinition::new("entries");
const OBJECTS: TableDefinition<&[u8; 32], &[u8]> = TableDefinition::new("objects");
const REPORTS: TableDefinition<&str, &[u8]> = TableDefinition::new("reports");

/// A store in a directory. Its clones are the same store; it is closed with the last.
#[derive(Clone, Debug)]
pub struct Redb(Arc<Opened>);

#[derive(Debug)]
struct Opened {
    database: Database,
    file: PathBuf,
    /// Held until the database is closed, so it stands below it.
    _lock: Option<File>,
}

impl Redb {
    /// Whether there is a store in a directory.
    pub fn is_there(directory: &Path) -> bool {
        directory.join(FILE).exists()
    }

    /// The store in a directory, which is made if there is none.
    pub fn open(directory: &Path) -> Result<Self, Error> {
        fs::create_dir_all(directory).map_err(|error| failed("creating", directory, error))?;
        let lock = lock(directory)?;
        let file = directory.join(FILE);
        let exists = file.try_exists();
        if !exists.map_err(|error| failed("reading", &file, error))? {
            make(directory)?;
        }
        let handle = File::options().read(true).write(true).open(&file);
        let handle = handle.map_err(|error| failed("opening", &file, error))?;
        let storage = FileBackend::new(handle).map_err(|error| trouble(&file, error.into()))?;
        Self::on(storage, file, Some(lock))
    }

    pub(crate) fn on(
        storage: impl StorageBackend,
        file: PathBuf,
        lock: Option<File>,
    ) -> Result<Self, Error> {
        let database = opened(storage, CACHE).map_err(|error| trouble(&file, error))?;
        let store = Self(Arc::new(Opened {
            database,
            file,
            _lock: lock,
        }));
        store.reading(look_over)?;
        Ok(store)
    }

    /// Reads everything, and compares it with its sums.
    pub fn check(&self) -> Result<(), Error> {
        self.reading(|read| {
            look_over(read)?;
            each_row(read, &mut |_| Ok(()))
        })
    }

    /// Copies the store as it is now into a new directory, while it is in use.
    pub fn backup(&self, to: &Path) -> Result<(), Error> {
        finished(to, |unfinished| {
            let file = unfinished.join(FILE);
            let copied = copy(&self.0.database, &file);
            copied.map_err(|error| match error {
                error @ redb::Error::Corrupted(_) => self.trouble(error),
                error => trouble(&file, error),
            })
        })
    }

    /// Copies any other store into a new directory, while it is in use, and says how far it is.
    pub fn backup_of(
        from: &dyn Store,
        to: &Path,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<(), Error> {
        finished(to, |unfinished| {
            let copy = Box::new(Self::open(unfinished)?);
            crate::copy::copy(from, copy, progress).map(drop)
        })
    }

    fn reading<T>(
        &self,
        read: impl FnOnce(&ReadTransaction) -> Result<T, redb::Error>,
    ) -> Result<T, Error> {
        let transaction = self.0.database.begin_read().map_err(redb::Error::from);
        transaction
            .and_then(|transaction| read(&transaction))
            .map_err(|error| self.trouble(error))
    }

    fn trouble(&self, error: redb::Error) -> Error {
        trouble(&self.0.file, error)
    }
}

impl Store for Redb {
    fn place(&self) -> String {
        format!("`{}`", self.0.file.display())
    }

    fn head(&self) -> Result<u64, Error> {
        self.reading(|read| noted_head(&read.open_table(META)?))
    }

    fn entry(&self, version: u64) -> Result<Option<Vec<u8>>, Error> {
        self.reading(|read| {
            let row = read.open_table(ENTRIES)?.get(version)?;
            row.map(|row| Ok(entry_in(version, row.value())?.to_vec()))
                .transpose()
        })
    }

    fn object(&self, hash: Hash) -> Result<Option<Vec<u8>>, Error> {
        self.reading(|read| {
            let row = read.open_table(OBJECTS)?.get(hash.as_bytes())?;
            row.map(|row| Ok(object_in(hash, row.value())?.to_vec()))
                .transpose()
        })
    }

    fn objects(&self, hashes: &[Hash]) -> Result<Vec<Option<Vec<u8>>>, Error> {
        self.reading(|read| {
            let table = read.open_table(OBJECTS)?;
            let object = |hash: &Hash| {
                let row = table.get(hash.as_bytes())?;
                row.map(|row| Ok(object_in(*hash, row.value())?.to_vec()))
                    .transpose()
            };
            hashes.iter().map(object).collect()
        })
    }

    fn hashes(&self) -> Result<Vec<Hash>, Error> {
        self.reading(|read| {
            let objects = read.open_table(OBJECTS)?;
            let mut hashes = Vec::new();
            for row in objects.iter()? {
                hashes.push(Hash::from_bytes(*row?.0.value()));
            }
            counted("objects", hashes.len() as u64, objects.len()?)?;
            Ok(hashes)
        })
    }

    fn append(
        &self,
        version: u64,
        entry: &[u8],
        objects: &[(Hash, Vec<u8>)],
    ) -> Result<Appended, Error> {
        append(&self.0.database, version, entry, objects).map_err(|error| self.trouble(error))
    }

    fn report(&self, node: &str, report: &[u8]) -> Result<(), Error> {
        self.report_all(&[(node.to_owned(), report.to_owned())])
    }

    fn report_all(&self, reports: &[(String, Vec<u8>)]) -> Result<(), Error> {
        let write = || {
            let write = begin(&self.0.database)?;
            {
                let mut table = write.open_table(REPORTS)?;
                for (node, report) in reports {
                    let row = with_sum(node.as_bytes(), report);
                    table.insert(node.as_str(), row.as_slice())?;
                }
            }
            Ok(write.commit()?)
        };
        write().map_err(|error| self.trouble(error))
    }

    fn report_of(&self, node: &str) -> Result<Option<Vec<u8>>, Error> {
        self.reading(|read| {
            let row = read.open_table(REPORTS)?.get(node)?;
            row.map(|row| Ok(report_in(node, row.value())?.to_vec()))
                .transpose()
        })
    }

    fn reports(&self) -> Result<Vec<(String, Vec<u8>)>, Error> {
        self.reading(|read| {
            let table = read.open_table(REPORTS)?;
            let mut reports = Vec::new();
            for row in table.iter()? {
                let (node, row) = row?;
                let report = report_in(node.value(), row.value())?.to_vec();
                reports.push((node.value().to_owned(), report));
            }
            counted("reports", reports.len() as u64, table.len()?)?;
            Ok(reports)
        })
    }
}

fn append(
    database: &Database,
    version: u64,
    entry: &[u8],
    objects: &[(Hash, Vec<u8>)],
) -> Result<Appended, redb::Error> {
    let write = begin(database)?;
    {
        let mut meta = write.open_table(META)?;
        let head = noted_head(&meta)?;
        if head.checked_add(1) != Some(version) {
            return Ok(Appended::Moved(head));
        }
        meta.insert("head", version)?;
        let mut table = write.open_table(OBJECTS)?;
        for (hash, bytes) in objects {
            table.insert(hash.as_bytes(), bytes.as_slice())?;
        }
        let row = with_sum(&version.to_be_bytes(), entry);
        write.open_table(ENTRIES)?.insert(version, row.as_slice())?;
    }
    write.commit()?;
    Ok(Appended::Done)
}

fn noted_head(meta: &impl ReadableTable<&'static str, u64>) -> Result<u64, redb::Error> {
    Ok(meta.get("head")?.map_or(0, |head| head.value()))
}

/// Refuses what was written by another version, and what lost its newest entries.
fn look_over(read: &ReadTransaction) -> Result<(), redb::Error> {
    let meta = read.open_table(META)?;
    let format = meta.get("format")?.map_or(0, |format| format.value());
    if format != FORMAT_NUMBER {
        // The one error of the database that says the same.
        return Err(redb::Error::UpgradeRequired(
            u8::try_from(format).unwrap_or(u8::MAX),
        ));
    }
    let head = noted_head(&meta)?;
    let entries = read.open_table(ENTRIES)?;
    counted("entries", entries.len()?, head)?;
    let last = entries.last()?.map_or(0, |(version, _)| version.value());
    match last == head {
        true => Ok(()),
        false => damaged(format!("entry {head} is missing")),
    }
}

/// A row of any table but `meta`.
enum Row<'r> {
    Entry(u64, &'r [u8]),
    Object(Hash, &'r [u8]),
    Report(&'r str, &'r [u8]),
}

/// Makes a directory that was not there, and is there only when everything is in it.
fn finished(to: &Path, fill: impl FnOnce(&Path) -> Result<(), Error>) -> Result<(), Error> {
    let exists = to.try_exists();
    let Some(name) = to.file_name() else {
        return Err(Error::new(
            FAILED,
            format!("`{}` names no directory", to.display()),
        ));
    };
    if exists.map_err(|error| failed("reading", to, error))? {
        let message = format!("`{}` is there already", to.display());
        return Err(Error::new(FAILED, message).help("name a directory that does not exist"));
    }
    // A backup that was not finished is no backup.
    let mut unfinished = name.to_owned();
    unfinished.push(".unfinished");
    let unfinished = to.with_file_name(unfinished);
    match fs::remove_dir_all(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(failed("removing", &unfinished, error));
        }
        _ => {}
    }
    fs::create_dir_all(&unfinished).map_err(|error| failed("creating", &unfinished, error))?;
    fill(&unfinished)?;
    sync(&unfinished)?;
    fs::rename(&unfinished, to).map_err(|error| failed("renaming", &unfinished, error))?;
    sync(&parent(to))
}

/// All rows as one moment saw them, each compared with its sum.
fn each_row(
    read: &ReadTransaction,
    row: &mut dyn FnMut(Row<'_>) -> Result<(), redb::Error>,
) -> Result<(), redb::Error> {
    let entries = read.open_table(ENTRIES)?;
    let mut count = 0;
    for found in entries.iter()? {
        let (version, bytes) = found?;
        count += 1;
        if version.value() != count {
            return damaged(format!("entry {count} is missing"));
        }
        entry_in(count, bytes.value())?;
        row(Row::Entry(count, bytes.value()))?;
    }
    counted("entries", count, entries.len()?)?;

    let objects = read.open_table(OBJECTS)?;
    let mut count = 0;
    for found in objects.iter()? {
        let (hash, bytes) = found?;
        let hash = Hash::from_bytes(*hash.value());
        count += 1;
        row(Row::Object(hash, object_in(hash, bytes.value())?))?;
    }
    counted("objects", count, objects.len()?)?;

    let reports = read.open_table(REPORTS)?;
    let mut count = 0;
    for found in reports.iter()? {
        let (node, bytes) = found?;
        count += 1;
        report_in(node.value(), bytes.value())?;
        row(Row::Report(node.value(), bytes.value()))?;
    }
    counted("reports", count, reports.len()?)
}

fn copy(database: &Database, file: &Path) -> Result<(), redb::Error> {
    let read = database.begin_read()?;
    let copy = create(file)?;
    let write = begin(&copy)?;
    {
        let mut entries = write.open_table(ENTRIES)?;
        let mut objects = write.open_table(OBJECTS)?;
        let mut reports = write.open_table(REPORTS)?;
        each_row(&read, &mut |row| {
            match row {
                Row::Entry(version, row) => drop(entries.insert(version, row)?),
                Row::Object(hash, bytes) => drop(objects.insert(hash.as_bytes(), bytes)?),
                Row::Report(node, row) => drop(reports.insert(node, row)?),
            }
            Ok(())
        })?;
        let head = noted_head(&read.open_table(META)?)?;
        counted("entries", entries.len()?, head)?;
        write.open_table(META)?.insert("head", head)?;
    }
    Ok(write.commit()?)
}

/// What is in a row of an entry.
fn entry_in(version: u64, row: &[u8]) -> Result<&[u8], redb::Error> {
    match summed(&version.to_be_bytes(), row) {
        Some(entry) => Ok(entry),
        None => damaged(format!("entry {version} is not what was written")),
    }
}

/// What is in a row of a report.
fn report_in<'r>(node: &str, row: &'r [u8]) -> Result<&'r [u8], redb::Error> {
    match summed(node.as_bytes(), row) {
        Some(report) => Ok(report),
        None => damaged(format!("the report of `{node}` is not what was written")),
    }
}

fn object_in(hash: Hash, bytes: &[u8]) -> Result<&[u8], redb::Error> {
    match Hash::of(bytes) == hash {
        true => Ok(bytes),
        false => damaged(format!("object {hash} is not what was written")),
    }
}

fn counted(what: &str, found: u64, noted: u64) -> Result<(), redb::Error> {
    match found == noted {
        true => Ok(()),
        false => damaged(format!(
            "{noted} {what} were written, and {found} are there"
        )),
    }
}

fn damaged<T>(what: String) -> Result<T, redb::Error> {
    Err(redb::Error::Corrupted(what))
}

/// One process at a time; the lock goes with the process, however it ends.
fn lock(directory: &Path) -> Result<File, Error> {
    let path = directory.join("lock");
    let file = File::options()
        .create(true)
        .truncate(false)
        .write(true)
        .open(&path);
    let file = file.map_err(|error| failed("opening", &path, error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => Err(locked(directory)),
        Err(fs::TryLockError::Error(error)) => Err(failed("locking", &path, error)),
    }
}

fn locked(directory: &Path) -> Error {
    let message = format!(
        "the store in `{}` is in use by another process",
        directory.display()
    );
    Error::new(LOCKED, message).help("ask that process, or stop it first")
}

/// Makes a new store under another name first, so that a file with the right one was a whole store once.
fn make(directory: &Path) -> Result<(), Error> {
    let unfinished = directory.join(UNFINISHED);
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(failed("removing", &unfinished, error));
        }
        _ => {}
    }
    let database = create(&unfinished).map_err(|error| trouble(&unfinished, error))?;
    drop(database);
    let renamed = fs::rename(&unfinished, directory.join(FILE));
    renamed.map_err(|error| failed("renaming", &unfinished, error))?;
    sync(directory)?;
    sync(&parent(directory))
}

/// A new database with all tables, and nothing in them.
fn create(file: &Path) -> Result<Database, redb::Error> {
    let database = Database::builder().set_cache_size(CACHE).create(file)?;
    lay_out(&database)?;
    Ok(database)
}

pub(crate) fn lay_out(database: &Database) -> Result<(), redb::Error> {
    let write = begin(database)?;
    write.open_table(META)?.insert("format", FORMAT_NUMBER)?;
    write.open_table(ENTRIES)?;
    write.open_table(OBJECTS)?;
    write.open_table(REPORTS)?;
    Ok(write.commit()?)
}

fn begin(database: &Database) -> Result<WriteTransaction, redb::Error> {
    let mut write = database.begin_write()?;
    write.set_two_phase_commit(true);
    Ok(write)
}

fn parent(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Makes the names in a directory durable.
fn sync(directory: &Path) -> Result<(), Error> {
    let synced = File::open(directory).and_then(|directory| directory.sync_all());
    synced.map_err(|error| failed("writing", directory, error))
}

fn failed(doing: &str, path: &Path, error: io::Error) -> Error {
    Error::new(
        FAILED,
        format!("{doing} `{}` failed: {error}", path.display()),
    )
}

/// What the database's trouble means to whoever runs it.
pub(crate) fn trouble(file: &Path, error: redb::Error) -> Error {
    let file_name = file.display();
    match error {
        redb::Error::DatabaseAlreadyOpen => locked(&parent(file)),
        redb::Error::UpgradeRequired(format) => {
            let message =
                format!("`{file_name}` has format {format}, and {FORMAT_NUMBER} is expected");
            Error::new(FORMAT, message)
                .help("use the release of Hence that wrote it, or a later one")
        }
        redb::Error::Corrupted(what) => Error::damaged(format!("`{file_name}` is damaged: {what}")),
        redb::Error::Io(error) if is_of_content(&error) => {
            Error::damaged(format!("`{file_name}` is damaged: {error}"))
        }
        error @ (redb::Error::Io(_) | redb::Error::PreviousIo) => Error::new(
            FAILED,
            format!("`{file_name}` cannot be read or written: {error}"),
        )
        .help("look at the disk, then start again: what was committed is kept"),
        error @ redb::Error::ValueTooLarge(_) => {
            Error::new(FAILED, format!("`{file_name}` has no room for it: {error}"))
        }
        error => Error::damaged(format!("`{file_name}` is damaged: {error}")),
    }
}

/// Whether it is what is in the file that cannot be read, not the disk.
fn is_of_content(error: &io::Error) -> bool {
    use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
    matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof)
}
