//! What the user's own `git` knows: texts as they were, and who changed them when.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use hence_model::diagnostic::{Code, Diagnostic};
use hence_model::value::{Map, Value};

use crate::Stop;

/// `git` cannot answer.
pub const NO_ANSWER: Code = Code::new("git.no-answer");

/// The files below a directory as they were in a revision.
pub struct Revision {
    directory: PathBuf,
    commit: String,
    /// A `git cat-file` that answers one question after another.
    reader: Mutex<Reader>,
    /// The names in directories that were asked for.
    listed: Mutex<HashMap<String, Option<Vec<String>>>>,
}

struct Reader {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

/// What a revision has under a name.
pub enum Object {
    /// A file.
    File(Vec<u8>),
    /// A directory.
    Directory,
    /// Nothing.
    Missing,
}

/// A commit, as people want to hear of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its hash, in full.
    pub hash: String,
    /// Who wrote it.
    pub author: String,
    /// Where mail reaches them.
    pub mail: String,
    /// The day, as `2026-01-31`.
    pub date: String,
    /// Its first line.
    pub subject: String,
}

impl Commit {
    /// The hash as people write it.
    pub fn short(&self) -> &str {
        &self.hash[..self.hash.len().min(8)]
    }

    /// All that people want to hear of it, in one line.
    pub fn line(&self) -> String {
        format!(
            "{}  {}  {}  {}",
            self.short(),
            self.date,
            self.author,
            self.subject
        )
    }

    /// All that is known about it, for programs.
    pub fn about(&self) -> Value {
        let mut about = Map::default();
        let parts = [
            ("hash", &self.hash),
            ("author", &self.author),
            ("mail", &self.mail),
            ("date", &self.date),
            ("subject", &self.subject),
        ];
        for (key, part) in parts {
            about.insert(key.to_owned(), Value::Text(part.clone()));
        }
        Value::Map(about)
    }
}

/// How `git log` is asked to write a commit: the parts are parted by a character that no line of text holds.
const COMMIT: &str = "--format=%H%x1f%an%x1f%ae%x1f%as%x1f%s";

fn commit(line: &str) -> Option<Commit> {
    let mut parts = line.split('\x1f').map(str::to_owned);
    Some(Commit {
        hash: parts.next()?,
        author: parts.next()?,
        mail: parts.next()?,
        date: parts.next()?,
        subject: parts.next()?,
    })
}

impl Revision {
    /// The files below a directory, as they were.
    pub fn open(directory: &Path, name: &str) -> Result<Self, Stop> {
        let wanted = format!("{name}^{{commit}}");
        let commit = ask(directory, &["rev-parse", "--verify", "--quiet", &wanted])
            .map_err(|trouble| no_answer(&format!("there is no revision `{name}`"), &trouble))?;
        let mut child = git(directory)
            .args(["cat-file", "--batch"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| no_answer("git cannot be run", &error.to_string()))?;
        let questions = child.stdin.take().expect("it is piped");
        let answers = BufReader::new(child.stdout.take().expect("it is piped"));
        Ok(Self {
            directory: directory.to_owned(),
            commit: commit.trim().to_owned(),
            reader: Mutex::new(Reader {
                child,
                questions,
                answers,
            }),
            listed: Mutex::default(),
        })
    }

    /// What stands under a name.
    pub fn read(&self, name: &str) -> io::Result<Object> {
        let Some(name) = tidy(name) else {
            return Ok(Object::Missing);
        };
        let mut reader = self.reader.lock().expect("nobody panics with it");
        writeln!(reader.questions, "{}:./{name}", self.commit)?;
        reader.questions.flush()?;
        let mut line = String::new();
        reader.answers.read_line(&mut line)?;
        let mut words = line.trim_end().rsplit(' ');
        let (Some(size), Some(kind)) = (words.next(), words.next()) else {
            return Ok(Object::Missing);
        };
        let Ok(size) = size.parse::<usize>() else {
            return Ok(Object::Missing);
        };
        let mut bytes = vec![0; size + 1];
        reader.answers.read_exact(&mut bytes)?;
        bytes.pop();
        Ok(match kind {
            "blob" => Object::File(bytes),
            _ => Object::Directory,
        })
    }

    /// The names in a directory, with a slash behind those of directories; none if there is no such directory.
    pub fn list(&self, directory: &str) -> Option<Vec<String>> {
        let name = tidy(directory)?;
        let mut listed = self.listed.lock().expect("nobody panics with it");
        let known = listed.entry(name).or_insert_with_key(|name| {
            let tree = format!("{}:./{name}", self.commit);
            let answer = ask(&self.directory, &["ls-tree", "-z", &tree]).ok()?;
            let mut names: Vec<String> = answer
                .split('\0')
                .filter_map(|line| {
                    let (about, name) = line.split_once('\t')?;
                    let is_directory = about.split(' ').nth(1) == Some("tree");
                    Some(format!("{name}{}", if is_directory { "/" } else { "" }))
                })
                .collect();
            names.sort();
            Some(names)
        });
        known.clone()
    }
}

impl Drop for Revision {
    fn drop(&mut self) {
        if let Ok(reader) = self.reader.get_mut() {
            let _ = reader.child.kill();
            let _ = reader.child.wait();
        }
    }
}

/// A name without `.` and inner `..`; none if it could not be in a repository.
fn tidy(name: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for component in Path::new(name).components() {
        match component {
            Component::CurDir => {}
            Component::Normal(part) => parts.push(part.to_str()?),
            Component::ParentDir if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            Component::ParentDir => parts.push(".."),
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    let name = parts.join("/");
    (!name.contains('\n')).then_some(name)
}

/// Which commits the lines of files are from.
pub struct Lines {
    directory: PathBuf,
    revision: Option<String>,
    files: HashMap<String, Option<Vec<Option<Commit>>>>,
}

impl Lines {
    /// The lines as they are in a revision or, without one, on the disk.
    pub fn new(directory: PathBuf, revision: Option<String>) -> Self {
        Self {
            directory,
            revision,
            files: HashMap::new(),
        }
    }

    /// The commit of a line, from 1; none if it is not committed, or git does not know the file.
    pub fn commit(&mut self, file: &str, line: u32) -> Option<Commit> {
        let (directory, revision) = (&self.directory, self.revision.as_deref());
        let lines = self.files.entry(file.to_owned());
        let lines = lines.or_insert_with(|| blame(directory, revision, file));
        lines.as_ref()?.get(line as usize - 1)?.clone()
    }
}

/// Which commit each line of a file is from, as it is in a revision or, without one, on the disk. None if git does
/// not know the file. A line that is not committed yet has no commit.
pub fn blame(directory: &Path, revision: Option<&str>, file: &str) -> Option<Vec<Option<Commit>>> {
    let file = Path::new(file);
    let (directory, name) = match (file.parent(), file.file_name()) {
        (Some(parent), Some(name)) => (directory.join(parent), name.to_str()?),
        _ => return None,
    };
    let mut arguments = vec!["blame", "--line-porcelain"];
    arguments.extend(revision);
    arguments.extend(["--", name]);
    let answer = ask(&directory, &arguments).ok()?;
    let mut lines = Vec::new();
    let mut commit = Commit {
        hash: String::new(),
        author: String::new(),
        mail: String::new(),
        date: String::new(),
        subject: String::new(),
    };
    for line in answer.lines() {
        if line.starts_with('\t') {
            let known = !commit.hash.bytes().all(|digit| digit == b'0');
            lines.push(known.then(|| commit.clone()));
            continue;
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "author" => commit.author = rest.to_owned(),
            "author-mail" => commit.mail = rest.trim_matches(['<', '>']).to_owned(),
            "author-time" => commit.date = date(rest.parse().unwrap_or(0)),
            "summary" => commit.subject = rest.to_owned(),
            _ if word.len() >= 40 && word.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
                commit.hash = word.to_owned();
            }
            _ => {}
        }
    }
    Some(lines)
}

/// The commit that took a line of a file away, between two revisions. Lines count from 1, in the older one.
pub fn removal(directory: &Path, from: &str, to: &str, file: &str, line: u32) -> Option<Commit> {
    let range = format!("{from}..{to}");
    let at = format!("{line},{line}");
    let arguments = [
        "blame",
        "--reverse",
        "--porcelain",
        "-L",
        &at,
        &range,
        "--",
        file,
    ];
    let answer = ask(directory, &arguments).ok()?;
    // The last commit that has the line, and after it the first that touches the file.
    let last = answer.split(' ').next()?;
    let range = format!("{last}..{to}");
    let arguments = [
        "log",
        "--reverse",
        "--ancestry-path",
        COMMIT,
        &range,
        "--",
        file,
    ];
    commit(ask(directory, &arguments).ok()?.lines().next()?)
}

/// A day by the seconds since 1970.
fn date(seconds: i64) -> String {
    // Days from the first of March of the year 0: leap days then come last in a year.
    let days = seconds.div_euclid(86_400) + 719_468;
    let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

fn git(directory: &Path) -> Command {
    let mut command = Command::new("git");
    if !directory.as_os_str().is_empty() {
        command.current_dir(directory);
    }
    command.env("LC_ALL", "C").env("GIT_OPTIONAL_LOCKS", "0");
    command
}

/// What git answers; what it says about trouble, if it does not.
fn ask(directory: &Path, arguments: &[&str]) -> Result<String, String> {
    let output = git(directory)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("git cannot be run: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

fn no_answer(message: &str, trouble: &str) -> Stop {
    let message = match trouble {
        "" => message.to_owned(),
        trouble => format!("{message}: {trouble}"),
    };
    let help = "a revision is written as `REVISION:FILE`, for example `HEAD~1:site.sf`";
    Stop::Refused(Box::new(Diagnostic::error(NO_ANSWER, message).help(help)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(951_782_400), "2000-02-29");
        assert_eq!(date(1_709_164_800), "2024-02-29");
        assert_eq!(date(4_107_542_400), "2100-03-01");
    }

    #[test]
    fn names_are_tidied() {
        assert_eq!(tidy("./a/../b").as_deref(), Some("b"));
        assert_eq!(tidy("../a").as_deref(), Some("../a"));
        assert_eq!(tidy("").as_deref(), Some(""));
        assert_eq!(tidy("/etc/passwd"), None);
    }
}
