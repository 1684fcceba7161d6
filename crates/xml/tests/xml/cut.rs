//! The power is cut at every step of replacing a file.

use std::cell::Cell;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hence_xml::file::{Host, Machine, Replaced, replace};

use crate::judge::folder;

const OLD: &str = "<r><c k=\"1\"/></r>\n";
const NEW: &str = "<r><c k=\"1\"/><c k=\"2\"/></r>\n";

/// A machine that loses its power.
struct Frail {
    /// After so many steps.
    left: Cell<usize>,
    /// Whether the last step is done by half, or not at all.
    half: bool,
}

impl Frail {
    /// Takes a step; if it is one too many, does the last half step.
    fn step(&self, half: impl FnOnce()) -> io::Result<()> {
        match self.left.get() {
            0 => Err(io::Error::other("there is no power")),
            1 => {
                self.left.set(0);
                if self.half {
                    half();
                }
                Err(io::Error::other("the power was cut"))
            }
            left => {
                self.left.set(left - 1);
                Ok(())
            }
        }
    }
}

impl Host for Frail {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.step(|| ())?;
        Machine.read(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.step(|| ())?;
        Machine.list(path)
    }

    fn write(&self, path: &Path, content: &[u8], like: &Path) -> io::Result<()> {
        self.step(|| {
            let _ = Machine.write(path, &content[..content.len() / 2], like);
        })?;
        Machine.write(path, content, like)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(|| {
            let _ = Machine.rename(from, to);
        })?;
        Machine.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step(|| {
            let _ = Machine.remove(path);
        })?;
        Machine.remove(path)
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names = Machine.list(folder).unwrap();
    names.sort();
    names
}

fn site(name: &str) -> (PathBuf, PathBuf) {
    let folder = folder(name);
    let path = folder.join("site.xml");
    fs::write(&path, OLD).unwrap();
    (folder, path)
}

#[test]
fn a_cut_at_every_step_leaves_the_old_file_or_the_new_one() {
    let (folder, path) = site("cut");
    let (mut old, mut new) = (0, 0);
    for half in [false, true] {
        for step in 1.. {
            fs::write(&path, OLD).unwrap();
            // What an earlier cut has left.
            fs::write(folder.join(".site.xml.1.staged"), "<r><c").unwrap();
            let left = Cell::new(step);
            let replaced = replace(&Frail { left, half }, &path, OLD.as_bytes(), NEW.as_bytes());
            let text = fs::read_to_string(&path).unwrap();
            if let Ok(replaced) = replaced {
                assert_eq!((replaced, text.as_str()), (Replaced::Done, NEW));
                break;
            }
            match text.as_str() {
                OLD => old += 1,
                NEW => new += 1,
                other => panic!("step {step}, half {half}: {other}"),
            }
            // The next one finishes, and nothing is left behind.
            let again = replace(&Machine, &path, text.as_bytes(), NEW.as_bytes());
            assert_eq!(again.unwrap(), Replaced::Done);
            assert_eq!(fs::read_to_string(&path).unwrap(), NEW);
            assert_eq!(names(&folder), ["site.xml"]);
        }
    }
    assert!(old >= 9 && new >= 1, "{old} old, {new} new");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_file_that_somebody_else_has_changed_stays_as_it_is() {
    let (folder, path) = site("moved");
    let other = "<r>by hand</r>";
    fs::write(&path, other).unwrap();
    let replaced = replace(&Machine, &path, OLD.as_bytes(), NEW.as_bytes());
    assert_eq!(replaced.unwrap(), Replaced::Moved);
    assert_eq!(fs::read_to_string(&path).unwrap(), other);
    assert_eq!(names(&folder), ["site.xml"]);
    fs::remove_dir_all(folder).unwrap();
}

#[cfg(unix)]
#[test]
fn mode_and_link_stay() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
    let (folder, path) = site("mode");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let link = folder.join("link.xml");
    symlink("site.xml", &link).unwrap();
    let behind = Machine::resolve(&link).unwrap();
    let replaced = replace(&Machine, &behind, OLD.as_bytes(), NEW.as_bytes());
    assert_eq!(replaced.unwrap(), Replaced::Done);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
    assert_eq!(fs::read_to_string(&link).unwrap(), NEW);
    fs::remove_dir_all(folder).unwrap();
}
