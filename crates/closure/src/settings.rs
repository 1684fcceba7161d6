//! What a root is for: which server, its program, and as whom it runs.
//!
//! `ROOT/server` says so. But it decides what is run, and as whom, so it is not believed where it cannot be true: what was
//! made below the root, and what is installed, say the same once more.

use std::io::ErrorKind;
use std::path::Path;

use hence_model::diagnostic::{Code, Diagnostic};
use hence_store::{Error, Refused};

use crate::closure::{DIRECTORIES, NO_CLOSURE, failed, no_closure};
use crate::host::{EntryKind, Host};
use crate::modules::{AVAILABLE, Modules};
use crate::server::Server;

/// The web server is not installed.
pub const NO_SERVER: Code = Code::new("http.no-server");

/// How what is below a root is written; another number means another layout.
const FORMAT: u32 = 1;

/// Who may do what with what is said about a root.
pub(crate) const SAID: u32 = 0o644;

/// What is said about a root until all is there: it becomes what is said about it.
pub(crate) const BEGUN: &str = "server.new";

/// What a root is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Which server it is.
    pub server: Server,
    /// Its program.
    pub program: String,
    /// As whom it runs, if not as ourselves.
    pub user: Option<User>,
}

/// Somebody without privileges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub name: String,
    /// The number.
    pub user: u32,
    /// The number of the group.
    pub group: u32,
}

impl Settings {
    /// For a new root: the program that is installed, run by somebody without privileges.
    pub(crate) fn here(host: &dyn Host, server: Server) -> Result<Self, Refused> {
        let mut programs = programs(host, server).into_iter();
        let program = programs.next().ok_or_else(|| {
            let message = format!("{} is not installed", server.word());
            let help = format!("on Debian: apt-get install {}", server.package());
            Diagnostic::error(NO_SERVER, message).help(help)
        })?;
        let user = match host.is_privileged() {
            false => None,
            true => Some(unprivileged(host)?.into_iter().next().ok_or_else(|| {
                let message = "there is no user without privileges for the server to run as";
                Diagnostic::error(NO_SERVER, message).help("such as `www-data`")
            })?),
        };
        Ok(Self {
            server,
            program,
            user,
        })
    }

    /// Of a root that is there: what is said in it, where that can be, and otherwise what must be. One of a later release is
    /// not touched.
    pub(crate) fn of(host: &dyn Host, root: &Path) -> Result<Self, Refused> {
        let text = kept(host, root, "server")?;
        let is_new = host.list(&root.join("ledger")).map_err(failed)?.is_empty();
        if text.is_none() && is_new {
            return Err(no_closure(root));
        }
        let text = text.unwrap_or_default();
        if let Some(format) = format(&text).filter(|format| *format > FORMAT) {
            let message = format!(
                "`{}` is a closure of format {format}, and {FORMAT} is the newest that is known here",
                root.display()
            );
            let help = "use the release of Hence that made it, or a later one";
            return Err(Error::new(hence_store::FORMAT, message).help(help).into());
        }
        let said = Self::from_text(&text);
        let server = said.as_ref().map(|said| said.server);
        let server = believed(server, configured(host, root)).ok_or_else(|| unknown(host, root))?;
        let said = said.filter(|said| said.server == server);
        let (program, user) = said.map(|said| (said.program, said.user)).unzip();
        let program = believed(program, programs(host, server)).ok_or_else(|| no_closure(root))?;
        let user = believed(user, users(host, root)?).flatten();
        if host.is_privileged() && user.as_ref().is_none_or(|user| user.user == 0) {
            let message = format!(
                "`{}` is another user's closure, and its server would run as root",
                root.display()
            );
            let trouble = Diagnostic::error(NO_CLOSURE, message);
            return Err(trouble.help("do this as the user who made it").into());
        }
        Ok(Self {
            server,
            program,
            user,
        })
    }

    /// What the first programs said, which did not say the format, and what is said since.
    pub(crate) fn texts(&self) -> [String; 2] {
        let Self {
            server, program, ..
        } = self;
        let mut text = format!("server {}\nprogram {program}\n", server.word());
        if let Some(User { name, user, group }) = &self.user {
            text.push_str(&format!("user {name} {user} {group}\n"));
        }
        let since = format!("format {FORMAT}\n{text}");
        [text, since]
    }

    fn from_text(text: &str) -> Option<Self> {
        let mut lines = text.lines().skip_while(|line| line.starts_with("format "));
        let server = Server::of(lines.next()?.strip_prefix("server ")?)?;
        let program = lines.next()?.strip_prefix("program ")?.to_owned();
        let user = match lines.next() {
            None => None,
            Some(line) => {
                let mut words = line.strip_prefix("user ")?.split(' ');
                let name = words.next()?.to_owned();
                let user = words.next()?.parse().ok()?;
                let group = words.next()?.parse().ok()?;
                Some(User { name, user, group })
            }
        };
        Some(Self {
            server,
            program,
            user,
        })
    }

    /// Says in an empty root that it is to become one.
    pub(crate) fn begin(&self, host: &dyn Host, root: &Path) -> Result<(), Refused> {
        let [_, text] = self.texts();
        let new = root.join(BEGUN);
        host.write(&new, text.as_bytes(), SAID)
            .and_then(|()| host.synchronise(&[new]))
            .and_then(|()| host.synchronise(&[root.to_owned()]))
            .map_err(failed)
    }

    /// Says it in a root.
    pub(crate) fn write(&self, host: &dyn Host, root: &Path) -> Result<(), Refused> {
        let [_, text] = self.texts();
        keep(host, root, "server", &text)
    }

    /// What the server that is installed says about its modules.
    pub(crate) fn learn_modules(&self, host: &dyn Host) -> Result<Modules, Refused> {
        match self.server {
            Server::Nginx => Ok(Modules::default()),
            Server::Apache => {
                let modules = Modules::learn(host, Path::new(AVAILABLE), &self.program);
                modules.map_err(|why| Error::new(NO_SERVER, why).into())
            }
        }
    }

    /// What it said when that was kept.
    pub(crate) fn known_modules(&self, host: &dyn Host, root: &Path) -> Result<Modules, Refused> {
        let text = kept(host, root, "modules")?;
        Ok(text.map_or_else(Modules::default, |text| Modules::from_text(&text)))
    }

    /// Keeps it, so that a commit need not ask again.
    pub(crate) fn write_modules(
        &self,
        host: &dyn Host,
        root: &Path,
        modules: &Modules,
    ) -> Result<(), Refused> {
        match self.server {
            Server::Nginx => Ok(()),
            Server::Apache => keep(host, root, "modules", &modules.to_text()),
        }
    }

    /// A command as the server runs it.
    pub fn as_server(&self, command: Vec<String>) -> Vec<String> {
        let Some(user) = &self.user else {
            return command;
        };
        let (number, group) = (user.user.to_string(), user.group.to_string());
        let words = [
            "setpriv",
            "--reuid",
            &number,
            "--regid",
            &group,
            "--clear-groups",
            "--",
        ];
        words
            .into_iter()
            .map(str::to_owned)
            .chain(command)
            .collect()
    }
}

/// Whether a root was begun and never finished, so that nothing was ever promised there: it holds only what we make, and
/// what says so. That may be empty, if the power was cut when it was written.
pub(crate) fn is_begun(host: &dyn Host, root: &Path) -> Result<bool, Refused> {
    let Some(text) = kept(host, root, BEGUN)? else {
        return Ok(false);
    };
    let is_ours = |name: &str| {
        let files = [BEGUN, "modules", "modules.new", "current", "current.new"];
        files.contains(&name) || DIRECTORIES.iter().any(|(directory, _)| *directory == name)
    };
    let entries = host.list(root).map_err(failed)?;
    let is_new = host.list(&root.join("ledger")).map_err(failed)?.is_empty();
    let is_said = text.is_empty() || Settings::from_text(&text).is_some();
    Ok(is_new && is_said && entries.iter().all(|entry| is_ours(&entry.name)))
}

/// What is said, if that can be or if nothing is known; otherwise what can be.
fn believed<T: PartialEq>(said: Option<T>, possible: Vec<T>) -> Option<T> {
    match said {
        Some(said) if possible.is_empty() || possible.contains(&said) => Some(said),
        _ => possible.into_iter().next(),
    }
}

/// Why it is not known what a root is for.
fn unknown(host: &dyn Host, root: &Path) -> Refused {
    match host.read(&root.join("server")) {
        Err(error) => failed(error),
        Ok(_) => no_closure(root),
    }
}

fn format(text: &str) -> Option<u32> {
    text.lines().next()?.strip_prefix("format ")?.parse().ok()
}

/// The servers that what is current was written for.
fn configured(host: &dyn Host, root: &Path) -> Vec<Server> {
    let current = root.join("current");
    let is_there = |server: &Server| is_there(host, &current.join(server.main_file()));
    Server::ALL.into_iter().filter(is_there).collect()
}

/// The programs of a server that are installed.
fn programs(host: &dyn Host, server: Server) -> Vec<String> {
    let known = server.programs().iter();
    let installed = known.filter(|program| is_there(host, Path::new(program)));
    installed.map(|program| (*program).to_owned()).collect()
}

fn is_there(host: &dyn Host, path: &Path) -> bool {
    host.look(path).is_ok_and(|found| found.is_some())
}

/// As whom the server of a root can run. What root made is root's, and gave the server who owns `run` somewhere to write;
/// of what another user made, root does not know it.
fn users(host: &dyn Host, root: &Path) -> Result<Vec<Option<User>>, Refused> {
    let owner = |path: &Path| host.look(path).map(|found| found.map(|found| found.owner));
    let root = host.canonical(root).map_err(failed)?;
    if owner(&root).map_err(failed)? != Some(0) {
        return Ok(match host.is_privileged() {
            true => Vec::new(),
            false => vec![None],
        });
    }
    let mut users = unprivileged(host)?;
    let writes = owner(&root.join("run")).map_err(failed)?;
    if users.iter().any(|user| Some(user.user) == writes) {
        users.retain(|user| Some(user.user) == writes);
    }
    Ok(users.into_iter().map(Some).collect())
}

/// Those without privileges whom servers run as, the usual one first.
fn unprivileged(host: &dyn Host) -> Result<Vec<User>, Refused> {
    let known = host.read(Path::new("/etc/passwd")).map_err(failed)?;
    let known = String::from_utf8_lossy(&known.unwrap_or_default()).into_owned();
    let of = |wanted: &str| {
        known.lines().find_map(|line| {
            let mut fields = line.split(':');
            let name = fields.next().filter(|name| *name == wanted)?.to_owned();
            let user = fields.nth(1)?.parse().ok()?;
            let group = fields.next()?.parse().ok()?;
            Some(User { name, user, group })
        })
    };
    let names = ["www-data", "http", "apache", "nginx", "nobody"];
    Ok(names.into_iter().filter_map(of).collect())
}

/// What a file of a root says; what is no file, or closed to us, says nothing.
fn kept(host: &dyn Host, root: &Path, name: &str) -> Result<Option<String>, Refused> {
    let path = root.join(name);
    let found = host.look(&path).map_err(failed)?;
    if found.is_none_or(|found| found.kind != EntryKind::File) {
        return Ok(None);
    }
    let bytes = match host.read(&path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => None,
        read => read.map_err(failed)?,
    };
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

/// Writes a file of a root, beside the old one, which it then replaces.
fn keep(host: &dyn Host, root: &Path, name: &str, text: &str) -> Result<(), Refused> {
    let (path, new) = (root.join(name), root.join(format!("{name}.new")));
    let found = host.look(&path).map_err(failed)?;
    if found.is_some_and(|found| found.kind == EntryKind::Directory) {
        host.remove(&path).map_err(failed)?;
    }
    host.write(&new, text.as_bytes(), SAID)
        .and_then(|()| host.synchronise(std::slice::from_ref(&new)))
        .and_then(|()| host.rename(&new, &path))
        .and_then(|()| host.synchronise(&[root.to_owned()]))
        .map_err(failed)
}
