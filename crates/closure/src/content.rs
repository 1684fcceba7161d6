//! Content by its hash: single blobs, and trees of them.
//!
//! ```text
//! object/HASH     what was staged: blobs, and the lists that trees are     read again to repair what is served
//! file/HASH       the same blob once more, for the server to read          never the same inode as the object
//! tree/HASH/…     a tree once more, as directories and files               made once, then never touched
//! ```

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hence_ledger::Hash;
use hence_model::diagnostic::Code;

use crate::host::{EntryKind, Host};
use crate::site;

/// There is no room for content.
pub const NO_ROOM: Code = Code::new("http.no-room");

/// So many bytes are left free, for logs and ledgers and others.
const RESERVE: u64 = 64 << 20;

/// What was staged is for the closure alone to read.
pub(crate) const STAGED: u32 = 0o400;

/// A snapshot of a directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// Files by their paths, such as `a/b.html`.
    files: BTreeMap<String, File>,
    /// Directories by their paths, without the top.
    directories: BTreeSet<String>,
}

/// A file of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// Its content.
    pub hash: Hash,
    /// How many bytes that is.
    pub size: u64,
}

/// Where snapshots are found.
pub trait Trees {
    /// The snapshot with this hash.
    fn tree(&self, hash: Hash) -> Option<Arc<Tree>>;
}

impl Trees for HashMap<Hash, Arc<Tree>> {
    fn tree(&self, hash: Hash) -> Option<Arc<Tree>> {
        self.get(&hash).cloned()
    }
}

impl Tree {
    /// Adds a file, and the directories that it is in.
    pub fn add_file(&mut self, path: &str, file: File) {
        if let Some((directory, _)) = path.rsplit_once('/') {
            self.add_directory(directory);
        }
        self.files.insert(path.to_owned(), file);
    }

    /// Adds a directory, and those that it is in.
    pub fn add_directory(&mut self, path: &str) {
        let mut rest = path;
        while !rest.is_empty() && self.directories.insert(rest.to_owned()) {
            rest = rest.rsplit_once('/').map_or("", |(above, _)| above);
        }
    }

    /// The file at a path.
    pub fn file(&self, path: &str) -> Option<File> {
        self.files.get(path).copied()
    }

    /// Whether there is a directory at a path; the top has none.
    pub fn has_directory(&self, path: &str) -> bool {
        path.is_empty() || self.directories.contains(path)
    }

    /// All files, by path.
    pub fn files(&self) -> impl Iterator<Item = (&str, File)> {
        self.files.iter().map(|(path, file)| (path.as_str(), *file))
    }

    /// All directories but the top, those above before those below.
    pub fn directories(&self) -> impl Iterator<Item = &str> {
        self.directories.iter().map(String::as_str)
    }

    /// The names in a directory, those of directories with `/`.
    pub fn names(&self, directory: &str) -> Vec<String> {
        let in_it = |path: &str| {
            let below = match directory {
                "" => path,
                directory => path.strip_prefix(directory)?.strip_prefix('/')?,
            };
            (!below.contains('/')).then(|| below.to_owned())
        };
        let directories = self.directories.iter().filter_map(|path| in_it(path));
        let mut names: Vec<String> = directories.map(|name| name + "/").collect();
        names.extend(self.files.keys().filter_map(|path| in_it(path)));
        names.sort();
        names
    }

    /// How many bytes its files have.
    pub fn size(&self) -> u64 {
        self.files.values().map(|file| file.size).sum()
    }

    /// The list that it is known by: a line for each directory, and then for each file.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        for path in &self.directories {
            text.push_str(&format!("directory {}\n", crate::address::encode(path)));
        }
        for (path, file) in &self.files {
            let path = crate::address::encode(path);
            text.push_str(&format!("file {} {} {path}\n", file.hash, file.size));
        }
        text
    }

    /// The snapshot with this list.
    pub fn from_text(text: &str) -> Option<Self> {
        let path = |word: &str| {
            let url = crate::address::Url::read(&format!("/{word}")).ok()?;
            Some(url.as_str()[1..].to_owned())
        };
        let mut tree = Self::default();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            match words.as_slice() {
                ["directory", name] => drop(tree.directories.insert(path(name)?)),
                ["file", hash, size, name] => {
                    let hash = Hash::from_hex(hash)?;
                    let size = size.parse().ok()?;
                    tree.files.insert(path(name)?, File { hash, size });
                }
                _ => return None,
            }
        }
        Some(tree)
    }

    /// What is the same for equal snapshots.
    pub fn hash(&self) -> Hash {
        Hash::of(self.to_text().as_bytes())
    }
}

/// Content below the root of a closure.
pub struct Content<'h> {
    host: &'h dyn Host,
    root: PathBuf,
    read: RefCell<HashMap<Hash, Option<Arc<Tree>>>>,
}

/// What is being staged.
struct Batch {
    hashes: BTreeSet<Hash>,
    /// So many bytes may still come.
    room: u64,
}

/// What was staged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Staged {
    /// A file.
    Blob(Hash),
    /// A directory.
    Tree(Hash),
}

/// Why something cannot be staged.
#[derive(Debug)]
pub enum Unfit {
    /// The world failed.
    Failed(PathBuf, io::Error),
    /// There is nothing.
    Missing(PathBuf),
    /// A link leads out of the directory.
    Escapes(PathBuf),
    /// It is a device, a socket or a pipe.
    NoFile(PathBuf),
    /// Its name cannot be one in a URL.
    Name(PathBuf),
}

impl<'h> Content<'h> {
    /// The content below a root.
    pub fn new(host: &'h dyn Host, root: &Path) -> Self {
        Self {
            host,
            root: root.to_owned(),
            read: RefCell::default(),
        }
    }

    /// Copies a file or directory, as it is now.
    pub fn stage(&self, from: &Path) -> Result<Staged, Unfit> {
        let failed = |error| Unfit::Failed(from.to_owned(), error);
        let mut new = self.batch().map_err(failed)?;
        let staged = snapshot(self.host, from, &mut |hash, bytes| {
            self.put(hash, bytes, &mut new)
        });
        let staged = staged.and_then(|staged| {
            self.keep(&new.hashes).map_err(failed)?;
            Ok(staged)
        });
        if staged.is_err() {
            for hash in &new.hashes {
                // It is swept away at the next start, if not now.
                let _ = self.host.remove(&self.object(*hash).with_extension("new"));
            }
        }
        staged
    }

    /// Keeps content that is at hand.
    pub fn stage_bytes(&self, bytes: &[u8]) -> io::Result<Hash> {
        self.stage_all(&[bytes])?;
        Ok(Hash::of(bytes))
    }

    /// Keeps several contents that are at hand.
    pub fn stage_all(&self, contents: &[&[u8]]) -> io::Result<()> {
        let mut new = self.batch()?;
        for bytes in contents {
            self.put(Hash::of(bytes), bytes, &mut new)?;
        }
        self.keep(&new.hashes)
    }

    /// How many bytes of content may still come.
    pub fn room(&self) -> io::Result<u64> {
        Ok(self.host.room(&self.root)?.saturating_sub(RESERVE))
    }

    /// How many bytes a host has that the server cannot read yet.
    pub fn unseen(&self, host: &site::Host) -> io::Result<u64> {
        let mut bytes = 0;
        for hash in host.trees.values().collect::<BTreeSet<_>>() {
            if self.host.look(&self.directory(*hash))?.is_none() {
                bytes += self.tree(*hash).map_or(0, |tree| tree.size());
            }
        }
        let indexes = host.indexes.values().map(|(hash, _)| hash);
        for hash in host.files.values().chain(indexes).collect::<BTreeSet<_>>() {
            if self.host.look(&self.file(*hash))?.is_none() {
                bytes += self.size(*hash)?.unwrap_or(0);
            }
        }
        Ok(bytes)
    }

    fn batch(&self) -> io::Result<Batch> {
        Ok(Batch {
            hashes: BTreeSet::new(),
            room: self.room()?,
        })
    }

    fn put(&self, hash: Hash, bytes: &[u8], new: &mut Batch) -> io::Result<()> {
        let path = self.object(hash);
        if new.hashes.contains(&hash) || self.host.look(&path)?.is_some() {
            return Ok(());
        }
        let room = new.room.checked_sub(bytes.len() as u64);
        new.room = room.ok_or(io::ErrorKind::StorageFull)?;
        self.host
            .write(&path.with_extension("new"), bytes, STAGED)?;
        new.hashes.insert(hash);
        Ok(())
    }

    /// What was written is on the disk before it has its name.
    fn keep(&self, new: &BTreeSet<Hash>) -> io::Result<()> {
        if new.is_empty() {
            return Ok(());
        }
        let written = new
            .iter()
            .map(|hash| self.object(*hash).with_extension("new"));
        let written: Vec<PathBuf> = written.collect();
        self.host.synchronise(&written)?;
        for (from, hash) in written.iter().zip(new) {
            self.host.rename(from, &self.object(*hash))?;
            // If it was missed before, it is not any more.
            self.read.borrow_mut().remove(hash);
        }
        self.host.synchronise(&[self.root.join("object")])
    }

    /// Where an object is kept.
    pub fn object(&self, hash: Hash) -> PathBuf {
        self.root.join("object").join(hash.to_string())
    }

    /// What an object holds, if it is there and what its hash says.
    pub fn bytes(&self, hash: Hash) -> io::Result<Option<Vec<u8>>> {
        let bytes = self.host.read(&self.object(hash))?;
        Ok(bytes.filter(|bytes| Hash::of(bytes) == hash))
    }

    /// How many bytes an object has, if it is there.
    pub fn size(&self, hash: Hash) -> io::Result<Option<u64>> {
        let entry = self.host.look(&self.object(hash))?;
        Ok(entry.map(|entry| entry.size))
    }

    /// Where the server reads a blob.
    pub fn file(&self, hash: Hash) -> PathBuf {
        self.root.join("file").join(hash.to_string())
    }

    /// Where the server reads a tree.
    pub fn directory(&self, hash: Hash) -> PathBuf {
        self.root.join("tree").join(hash.to_string())
    }

    /// Puts a blob where the server reads it. `None` if there is no such object.
    pub fn show_file(&self, hash: Hash) -> io::Result<Option<()>> {
        let path = self.file(hash);
        if self.host.look(&path)?.is_some() {
            return Ok(Some(()));
        }
        self.show_file_again(hash)
    }

    /// Puts a blob where the server reads it, instead of what is there. `None` if there is no such object.
    pub fn show_file_again(&self, hash: Hash) -> io::Result<Option<()>> {
        let path = self.file(hash);
        let Some(bytes) = self.bytes(hash)? else {
            return Ok(None);
        };
        let new = path.with_extension("new");
        self.host.write(&new, &bytes, 0o444)?;
        self.host.synchronise(std::slice::from_ref(&new))?;
        self.host.rename(&new, &path)?;
        self.host.synchronise(&[self.root.join("file")])?;
        Ok(Some(()))
    }

    /// Puts a tree where the server reads it. `None` if an object is missing.
    pub fn show_tree(&self, hash: Hash) -> io::Result<Option<()>> {
        let path = self.directory(hash);
        if self.host.look(&path)?.is_some() {
            return Ok(Some(()));
        }
        self.show_tree_again(hash)
    }

    /// Puts a tree where the server reads it, instead of what is there. `None` if an object is missing.
    pub fn show_tree_again(&self, hash: Hash) -> io::Result<Option<()>> {
        let path = self.directory(hash);
        let Some(tree) = self.tree(hash) else {
            return Ok(None);
        };
        let new = path.with_extension("new");
        // A crash left this behind; it was never served.
        self.host.remove(&new)?;
        self.host.make_directory(&new, 0o755)?;
        let mut made = vec![new.clone()];
        for directory in tree.directories() {
            let directory = new.join(directory);
            self.host.make_directory(&directory, 0o755)?;
            made.push(directory);
        }
        for (name, file) in tree.files() {
            let Some(bytes) = self.bytes(file.hash)? else {
                return Ok(None);
            };
            let name = new.join(name);
            self.host.write(&name, &bytes, 0o444)?;
            made.push(name);
        }
        self.host.synchronise(&made)?;
        let old = path.with_extension("old.new");
        if self.host.look(&path)?.is_some() {
            self.host.rename(&path, &old)?;
        }
        self.host.rename(&new, &path)?;
        self.host.synchronise(&[self.root.join("tree")])?;
        self.host.remove(&old)?;
        Ok(Some(()))
    }
}

/// Reads a file or directory, as it is now: each content is handed on with its hash, and that of a directory is the list
/// that it is known by.
pub fn snapshot(
    host: &dyn Host,
    from: &Path,
    hand: &mut dyn FnMut(Hash, &[u8]) -> io::Result<()>,
) -> Result<Staged, Unfit> {
    let failed = |error| Unfit::Failed(from.to_owned(), error);
    let from = match host.look(from).map_err(failed)? {
        None => return Err(Unfit::Missing(from.to_owned())),
        Some(entry) if entry.kind == EntryKind::Link => host.canonical(from).map_err(failed)?,
        Some(_) => from.to_owned(),
    };
    let entry = host.look(&from).map_err(failed)?;
    let mut reading = Reading { host, hand };
    match entry.map(|entry| entry.kind) {
        None => Err(Unfit::Missing(from)),
        Some(EntryKind::File) => Ok(Staged::Blob(reading.file(&from)?.hash)),
        Some(EntryKind::Directory) => {
            let mut tree = Tree::default();
            let top = host.canonical(&from).map_err(failed)?;
            reading.directory(&from, &top, "", &mut tree)?;
            let text = tree.to_text();
            let hash = Hash::of(text.as_bytes());
            (reading.hand)(hash, text.as_bytes()).map_err(failed)?;
            Ok(Staged::Tree(hash))
        }
        Some(_) => Err(Unfit::NoFile(from)),
    }
}

/// Reads files, and hands on what they hold.
struct Reading<'r> {
    host: &'r dyn Host,
    hand: &'r mut dyn FnMut(Hash, &[u8]) -> io::Result<()>,
}

impl Reading<'_> {
    fn directory(
        &mut self,
        directory: &Path,
        top: &Path,
        below: &str,
        tree: &mut Tree,
    ) -> Result<(), Unfit> {
        let failed = |error| Unfit::Failed(directory.to_owned(), error);
        for entry in self.host.list(directory).map_err(failed)? {
            let mut path = directory.join(&entry.name);
            if entry.name.chars().any(char::is_control) {
                return Err(Unfit::Name(path));
            }
            let name = match below {
                "" => entry.name,
                below => format!("{below}/{}", entry.name),
            };
            let mut kind = entry.kind;
            if kind == EntryKind::Link {
                let to = self.host.canonical(&path);
                let to = to.map_err(|error| Unfit::Failed(path.clone(), error))?;
                // A link to a directory could lead round in circles.
                let is_file = self.host.look(&to).map_err(failed)?;
                let is_file = is_file.is_some_and(|entry| entry.kind == EntryKind::File);
                if !to.starts_with(top) || !is_file {
                    return Err(Unfit::Escapes(path));
                }
                (path, kind) = (to, EntryKind::File);
            }
            match kind {
                EntryKind::Directory => {
                    tree.add_directory(&name);
                    self.directory(&path, top, &name, tree)?;
                }
                EntryKind::File => tree.add_file(&name, self.file(&path)?),
                _ => return Err(Unfit::NoFile(path)),
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) -> Result<File, Unfit> {
        let failed = |error| Unfit::Failed(path.to_owned(), error);
        let bytes = self.host.read(path).map_err(failed)?;
        let bytes = bytes.ok_or_else(|| Unfit::Missing(path.to_owned()))?;
        let hash = Hash::of(&bytes);
        (self.hand)(hash, &bytes).map_err(failed)?;
        let size = bytes.len() as u64;
        Ok(File { hash, size })
    }
}

impl Trees for Content<'_> {
    fn tree(&self, hash: Hash) -> Option<Arc<Tree>> {
        let read = || {
            let bytes = self.bytes(hash).ok()??;
            Tree::from_text(std::str::from_utf8(&bytes).ok()?).map(Arc::new)
        };
        let mut known = self.read.borrow_mut();
        known.entry(hash).or_insert_with(read).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_known_by_its_list() {
        let mut tree = Tree::default();
        let hash = Hash::of(b"x");
        tree.add_file("a b/c é.html", File { hash, size: 1 });
        tree.add_directory("empty/below");
        assert_eq!(Tree::from_text(&tree.to_text()), Some(tree.clone()));
        assert_eq!(tree.names(""), ["a b/", "empty/"]);
        assert_eq!(tree.names("empty"), ["below/"]);
        assert!(tree.has_directory("") && tree.has_directory("empty/below"));
        assert!(!tree.has_directory("empty/none"));
    }
}
