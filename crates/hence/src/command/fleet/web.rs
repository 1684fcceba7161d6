//! Web sites in the sources of a fleet: the block `http` of a feature, group or node.
//!
//! ```text
//! http => {
//!   shop => {
//!     name => 'foo.test'                                       aliases on quota users
//!     top => { url => '/', from => 'www' }                     a directory or a file, as it is now
//!     notice => { url => '/notice', text => 'Closed on Sundays', type => 'text/plain' }
//!     old => { url => '/old', redirect => '/notice', status => 301 }
//!     staff => { url => '/staff/', access => ['10.0.0.0/8'] }  or `all`, `none`; or `users`
//!     api => { url => '/api/', proxy => 'http://127.0.0.1:9000/', probe => '/health' }
//!     images => { url => '/images/', listing => true }         also `waive`
//!   }
//! }
//! ```
//!
//! Each becomes a parameter, as [`part`] reads them on the node. Content is named by its hash, and goes into the ledger.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use hence_closure::address::{Name, Url};
use hence_closure::content::{Staged, Tree, Unfit, snapshot};
use hence_closure::host::Machine;
use hence_closure::level2::{indexes, unfit};
use hence_closure::media::Media;
use hence_closure::part;
use hence_closure::words::{Aspect, Said, Subject};
use hence_fleet::tree::{Misfit, Part, Set};
use hence_ledger::{Fault, Hash};
use hence_model::diagnostic::similar;
use hence_model::path::{Path, Segment};
use hence_model::value::{Map, Value};
use hence_service::Service;

/// So much content goes with one push.
pub const MOST: usize = 40 << 20;

/// Reads the web sites of a fleet, and collects their content.
pub struct Web {
    /// Where relative paths begin.
    directory: PathBuf,
    /// What was read, by its hash.
    pub contents: BTreeMap<Hash, Vec<u8>>,
    /// Directories that were read already.
    known: BTreeMap<PathBuf, (Staged, Option<Arc<Tree>>)>,
}

const OF_HOSTS: [&str; 5] = ["name", "aliases", "on", "quota", "users"];
const OF_URLS: [&str; 12] = [
    "url", "from", "text", "type", "listing", "redirect", "status", "access", "users", "proxy",
    "probe", "waive",
];

impl Web {
    /// Relative paths begin at a directory.
    pub fn new(directory: PathBuf) -> Self {
        Self {
            directory,
            contents: BTreeMap::new(),
            known: BTreeMap::new(),
        }
    }

    /// What a file or directory holds now.
    fn read(&mut self, from: &str) -> Result<(Staged, Option<Arc<Tree>>), Unread> {
        let path = self.directory.join(from);
        if let Some(read) = self.known.get(&path) {
            return Ok(read.clone());
        }
        let mut size = self.contents.values().map(Vec::len).sum::<usize>();
        let contents = &mut self.contents;
        let read = snapshot(&Machine, &path, &mut |hash, bytes| {
            size += bytes.len();
            match size > MOST {
                true => return Err(std::io::ErrorKind::FileTooLarge.into()),
                false => drop(contents.insert(hash, bytes.to_vec())),
            }
            Ok(())
        });
        let staged = read.map_err(|why| match why {
            Unfit::Failed(_, error) if error.kind() == std::io::ErrorKind::FileTooLarge => {
                let message = format!("more than {} MB would go with one push", MOST >> 20);
                let help = "large content is posted on the nodes: `hence http post`";
                Unread::new(message, help)
            }
            why => {
                let trouble = unfit(why, &self.directory);
                Unread::new(
                    trouble.message,
                    trouble.help.first().map_or("", |help| help),
                )
            }
        })?;
        let tree = match staged {
            Staged::Blob(_) => None,
            Staged::Tree(hash) => {
                let list = String::from_utf8_lossy(&self.contents[&hash]);
                Tree::from_text(&list).map(Arc::new)
            }
        };
        self.known.insert(path, (staged, tree.clone()));
        Ok((staged, tree))
    }
}

impl Part for Web {
    fn word(&self) -> &'static str {
        "http"
    }

    fn parameters(&mut self, block: &Map, path: &Path) -> Result<Vec<Set>, Vec<Misfit>> {
        let mut reader = Reader {
            web: self,
            sets: BTreeMap::new(),
            implied: Vec::new(),
            misfits: Vec::new(),
        };
        for (key, value) in block.iter() {
            let path = child(path, key);
            match value {
                Value::Map(host) => reader.host(key, host, &path),
                _ => reader.misfit(&path, "a block is expected, about a host".to_owned(), ""),
            }
        }
        let Reader {
            mut sets,
            implied,
            misfits,
            ..
        } = reader;
        for set in implied {
            sets.entry(set.parameter.to_lowercase()).or_insert(set);
        }
        match misfits.is_empty() {
            true => Ok(sets.into_values().collect()),
            false => Err(misfits),
        }
    }
}

/// Content that is not in the ledger yet, as far as what is asserted there tells.
pub fn unknown(
    service: &Service,
    mut contents: BTreeMap<Hash, Vec<u8>>,
) -> BTreeMap<Hash, Vec<u8>> {
    if contents.is_empty() {
        return contents;
    }
    for (_, assertion) in service.state().iter() {
        match assertion.value.as_text().and_then(part::named) {
            None => {}
            Some(Staged::Blob(hash)) => drop(contents.remove(&hash)),
            // What is in a directory that is asserted came with it.
            Some(Staged::Tree(hash)) => {
                contents.remove(&hash);
                let list = service.repository().object(hash).ok().flatten();
                let list = list.and_then(|list| Tree::from_text(std::str::from_utf8(&list).ok()?));
                for (_, file) in list.iter().flat_map(Tree::files) {
                    contents.remove(&file.hash);
                }
            }
        }
    }
    contents
}

/// Why something was not read, and what to do.
struct Unread {
    message: String,
    help: String,
}

impl Unread {
    fn new(message: impl Into<String>, help: &str) -> Self {
        Self {
            message: message.into(),
            help: help.to_owned(),
        }
    }
}

impl From<Fault> for Unread {
    fn from(fault: Fault) -> Self {
        Self {
            message: fault.message,
            help: fault.help,
        }
    }
}

struct Reader<'w> {
    web: &'w mut Web,
    /// By their names in one case.
    sets: BTreeMap<String, Set>,
    /// What follows from other things, unless it is said.
    implied: Vec<Set>,
    misfits: Vec<Misfit>,
}

impl Reader<'_> {
    fn host(&mut self, key: &str, block: &Map, path: &Path) {
        let name = match block.get("name") {
            None => Ok(key.to_owned()),
            Some(Value::Text(name)) => Ok(name.clone()),
            Some(_) => Err(Unread::new("a name is a text", "")),
        };
        let at = match block.get("name") {
            None => path.clone(),
            Some(_) => child(path, "name"),
        };
        let name = name.and_then(|name| Ok(Name::read(&name)?));
        let Some(name) = self.good(name, &at) else {
            return;
        };
        let on = match block.get("on") {
            None => Ok(Vec::new()),
            Some(on) => texts(on).map(|on| [vec!["on".to_owned()], on].concat()),
        };
        let host = Subject::Host(name.clone());
        if let Some(on) = self.good(on, &child(path, "on")) {
            let at = if on.is_empty() { at } else { child(path, "on") };
            self.say(&at, &host, &on);
        }
        for (field, value) in block.iter() {
            let path = child(path, field);
            match (field, value) {
                ("name" | "on", _) => {}
                ("aliases", value) => self.aliases(&name, value, &path),
                ("quota", value) => {
                    if let Some(size) = self.good(texts(value), &path) {
                        self.say(&path, &Subject::Quota(name.clone()), &size);
                    }
                }
                ("users", Value::Map(users)) => {
                    for (user, sum) in users.iter() {
                        let path = child(&path, user);
                        let subject = Subject::User(name.clone(), user.into());
                        if let Some(sum) = self.good(texts(sum), &path) {
                            self.say(&path, &subject, &sum);
                        }
                    }
                }
                (_, Value::Map(url)) => self.url(&name, url, &path),
                _ => {
                    let message = format!("a host has no `{field}`");
                    let help = match similar(field, OF_HOSTS).first() {
                        Some(near) => format!("did you mean `{near}`?"),
                        None => format!(
                            "there are `{}`, and blocks with a `url`",
                            OF_HOSTS.join("`, `")
                        ),
                    };
                    self.misfit(&path, message, &help);
                }
            }
        }
    }

    fn aliases(&mut self, host: &Name, value: &Value, path: &Path) {
        let Some(names) = self.good(texts(value), path) else {
            return;
        };
        for (number, name) in names.iter().enumerate() {
            let path = match value {
                Value::List(_) => path.child(Segment::Index(number)),
                _ => path.clone(),
            };
            let alias = Name::read(name).map_err(Unread::from);
            if let Some(alias) = self.good(alias, &path) {
                self.say(&path, &Subject::Alias(host.clone(), alias), &[]);
            }
        }
    }

    fn url(&mut self, host: &Name, block: &Map, path: &Path) {
        for (field, _) in block.iter().filter(|(field, _)| !OF_URLS.contains(field)) {
            let message = format!("a URL has no `{field}`");
            self.misfit(&child(path, field), message, &nearest(field, &OF_URLS));
        }
        let url = match block.get("url") {
            Some(Value::Text(url)) => Url::read(url).map_err(Unread::from),
            Some(_) => Err(Unread::new("a URL is a text", "")),
            None => Err(Unread::new(
                "it has no `url`",
                "`url => '/products/'` says which it is",
            )),
        };
        let at = match block.get("url") {
            None => path.clone(),
            Some(_) => child(path, "url"),
        };
        let Some(url) = self.good(url, &at) else {
            return;
        };
        let subject = |aspect| Subject::At(host.clone(), aspect, url.clone());
        self.content(host, &url, block, path);
        let words = |name: &str| block.get(name).map(texts);
        if let Some(target) = words("redirect") {
            let at = child(path, "redirect");
            let status = words("status").unwrap_or_else(|| Ok(vec!["302".to_owned()]));
            let status = self.good(status, &child(path, "status"));
            if let (Some(target), Some(status)) = (self.good(target, &at), status) {
                self.say(&at, &subject(Aspect::Redirect), &[status, target].concat());
            }
        }
        if let Some(networks) = words("access") {
            let at = child(path, "access");
            if let Some(mut words) = self.good(networks, &at) {
                if !matches!(words.as_slice(), [one] if one == "all" || one == "none") {
                    words.insert(0, "networks".to_owned());
                }
                self.say(&at, &subject(Aspect::Access), &words);
            }
        }
        if let Some(users) = words("users") {
            let at = child(path, "users");
            if let Some(mut words) = self.good(users, &at) {
                words.insert(0, "users".to_owned());
                self.say(&at, &subject(Aspect::Access), &words);
            }
        }
        if let Some(upstream) = words("proxy") {
            let at = child(path, "proxy");
            let probe = words("probe").unwrap_or_else(|| Ok(Vec::new()));
            let probe = self.good(probe, &child(path, "probe"));
            if let (Some(mut words), Some(probe)) = (self.good(upstream, &at), probe) {
                words.extend((!probe.is_empty()).then(|| "probe".to_owned()));
                words.extend(probe);
                self.say(&at, &subject(Aspect::Proxy), &words);
            }
        }
        match block.get("listing") {
            None | Some(Value::Bool(false)) => {}
            Some(Value::Bool(true)) => {
                self.say(&child(path, "listing"), &subject(Aspect::Listing), &[]);
            }
            Some(_) => {
                let message = "true or false is expected".to_owned();
                self.misfit(&child(path, "listing"), message, "");
            }
        }
        match block.get("waive") {
            None => {}
            Some(Value::Map(checks)) => {
                for (check, reason) in checks.iter() {
                    let path = child(&child(path, "waive"), check);
                    let subject = Subject::Waive(host.clone(), check.into(), url.clone());
                    if let Some(reason) = self.good(texts(reason), &path) {
                        self.say(&path, &subject, &reason);
                    }
                }
            }
            Some(_) => {
                let message = "a block is expected: checks, and why they may fail".to_owned();
                self.misfit(&child(path, "waive"), message, "");
            }
        }
    }

    /// What a URL answers, and of which type that is.
    fn content(&mut self, host: &Name, url: &Url, block: &Map, path: &Path) {
        let media = match block.get("type") {
            None => Ok(None),
            Some(Value::Text(media)) => Media::read(media).map(Some).map_err(Unread::from),
            Some(_) => Err(Unread::new("a type is a text", "such as `text/html`")),
        };
        let Some(media) = self.good(media, &child(path, "type")) else {
            return;
        };
        let (at, read, by_name) = match (block.get("text"), block.get("from")) {
            (Some(_), Some(_)) => {
                let message = "content is either `text` or `from` somewhere".to_owned();
                return self.misfit(&child(path, "from"), message, "");
            }
            (None, None) => {
                if let Some(media) = media {
                    let subject = Subject::At(host.clone(), Aspect::Type, url.clone());
                    self.say(&child(path, "type"), &subject, &[media.to_string()]);
                }
                return;
            }
            (Some(Value::Text(text)), None) => {
                let bytes = text.as_bytes().to_vec();
                let hash = Hash::of(&bytes);
                self.web.contents.insert(hash, bytes);
                let read = Ok((Staged::Blob(hash), None));
                (child(path, "text"), read, Media::read("text/html").ok())
            }
            (None, Some(Value::Text(from))) => {
                let read = self.web.read(from);
                (child(path, "from"), read, Media::by_name(from))
            }
            (text, _) => {
                let field = if text.is_some() { "text" } else { "from" };
                return self.misfit(&child(path, field), "a text is expected".to_owned(), "");
            }
        };
        let Some((staged, tree)) = self.good(read, &at) else {
            return;
        };
        let subject = |aspect, url: &Url| Subject::At(host.clone(), aspect, url.clone());
        match staged {
            Staged::Tree(hash) => {
                let url = url.as_directory();
                self.say(&at, &subject(Aspect::Tree, &url), &[format!("tree:{hash}")]);
                for (url, blob) in tree.iter().flat_map(|tree| indexes(tree, &url)) {
                    let index = subject(Aspect::Index, &url);
                    self.implied.push(Set {
                        parameter: part::parameter(&index),
                        value: format!("blob:{blob} text/html"),
                        path: at.clone(),
                    });
                }
            }
            Staged::Blob(hash) if url.is_directory() => match media.or(by_name) {
                Some(media) => {
                    let words = [format!("blob:{hash}"), media.to_string()];
                    self.say(&at, &subject(Aspect::Index, url), &words);
                }
                None => {
                    let message = "the type of this content is not known by its name".to_owned();
                    self.misfit(&at, message, "`type => 'text/html'` says it");
                }
            },
            Staged::Blob(hash) => {
                self.say(&at, &subject(Aspect::File, url), &[format!("blob:{hash}")]);
                if let Some(media) = media {
                    let at = child(path, "type");
                    self.say(&at, &subject(Aspect::Type, url), &[media.to_string()]);
                }
            }
        }
    }

    /// Sets the parameter by which something is said.
    fn say(&mut self, path: &Path, subject: &Subject, words: &[String]) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let asked: Vec<String> = subject.to_string().split(' ').map(str::to_owned).collect();
        let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
        // What is wrong with a name or a URL for this is found as it is read again.
        let said: Result<Said, Unread> = Subject::read(&asked)
            .and_then(|(subject, _)| subject.said(&words))
            .map_err(Unread::from);
        let Some(said) = self.good(said, path) else {
            return;
        };
        let set = Set {
            parameter: part::parameter(subject),
            value: part::value(&said),
            path: path.clone(),
        };
        let name = set.parameter.to_lowercase();
        if self.sets.contains_key(&name) {
            let message = format!("`{subject}` is said twice");
            return self.misfit(path, message, "");
        }
        self.sets.insert(name, set);
    }

    fn good<T>(&mut self, read: Result<T, Unread>, path: &Path) -> Option<T> {
        match read {
            Ok(good) => Some(good),
            Err(Unread { message, help }) => {
                self.misfit(path, message, &help);
                None
            }
        }
    }

    fn misfit(&mut self, path: &Path, message: String, help: &str) {
        self.misfits.push(Misfit {
            message,
            help: help.to_owned(),
            path: path.clone(),
        });
    }
}

/// A text, a number, or a list of them, as words.
fn texts(value: &Value) -> Result<Vec<String>, Unread> {
    let one = |value: &Value| match value {
        Value::Text(text) => Ok(text.clone()),
        Value::Integer(number) => Ok(number.to_string()),
        _ => Err(Unread::new("a text is expected, or a list of texts", "")),
    };
    match value {
        Value::List(list) => list.as_slice().iter().map(one).collect(),
        value => Ok(vec![one(value)?]),
    }
}

fn child(path: &Path, name: &str) -> Path {
    path.child(Segment::Key(name.to_owned()))
}

fn nearest(name: &str, names: &[&str]) -> String {
    match similar(name, names.iter().copied()).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("there are `{}`", names.join("`, `")),
    }
}
