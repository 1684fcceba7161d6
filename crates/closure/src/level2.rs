//! Orders about the present, as writes that do not read.
//!
//! What somebody posts is a file or a directory as it is now; what is refreshed or copied depends on what is asserted now.
//! Here they become commands whose values are fixed: contents by their hashes. Both forms are kept, so that the history
//! says what was meant and what was done.

use std::io::ErrorKind;
use std::path::Path;

use hence_ledger::entry::Origin;
use hence_ledger::{Act, Change, Command, Hash, Key, Keys, State, Value};
use hence_model::diagnostic::{Code, Diagnostic};
use hence_store::Refused;

use crate::address::{Name, Url, encode};
use crate::certificate::Certificate;
use crate::checks::CERTIFICATE;
use crate::closure::{Closure, failed};
use crate::content::{NO_ROOM, Staged, Tree, Trees, Unfit};
use crate::language::{Order, Post, PostCert};
use crate::media::Media;
use crate::words::{Aspect, FORM, Said, Subject, Words};

/// Something cannot be staged.
pub const UNFIT: Code = Code::new("http.unfit");
/// What was posted there is not known.
pub const NOT_POSTED: Code = Code::new("http.not-posted");

/// Writes, and the words that meant them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meant {
    /// The writes.
    pub commands: Vec<Command>,
    /// What was meant by them, if that is not what they say.
    pub meant: Option<String>,
}

impl Closure<'_> {
    /// The writes that an order comes to now. What it reads is what is asserted after `state`.
    pub fn translate(
        &self,
        order: &Order,
        owner: &str,
        state: &State,
        directory: &Path,
    ) -> Result<Meant, Refused> {
        let writes = |commands, meant| Ok(Meant { commands, meant });
        match order {
            Order::Write(commands) => writes(commands.clone(), None),
            Order::Post(post) => self.post(post, owner, directory),
            Order::PostCert(post) => self.post_cert(post, owner, directory),
            Order::Refresh(host, url) => match self.posted(state, host, url)? {
                Order::Become(host, from) => self.become_site(&host, &from, directory),
                Order::Post(post) => self.post(&post, owner, directory),
                _ => unreachable!("only these post"),
            },
            Order::Copy(from, to) => {
                let top = Subject::Host(from.clone()).key();
                let mut commands = vec![Subject::Host(to.clone()).retracted()];
                for (key, assertion) in state.among(Keys::Under(top.clone())) {
                    // Names stay with who has them, and with them certificates, and why a host is held.
                    if matches!(
                        Subject::of(key),
                        Some(Subject::Alias(..) | Subject::Cert(..) | Subject::Hold(_))
                    ) {
                        continue;
                    }
                    let below = &key.as_str()[top.as_str().len()..];
                    let key =
                        Key::from_text(&format!("{}{below}", Subject::Host(to.clone()).key()));
                    let value = assertion.value.clone();
                    let owner = owner.into();
                    commands.push(Command::Assert { owner, key, value });
                }
                if commands.len() == 1 {
                    let message = format!("there is no `host {from}` to copy");
                    return Err(Diagnostic::error(FORM, message).into());
                }
                writes(commands, Some(format!("copy host {from} to {to}")))
            }
            Order::Become(host, from) => self.become_site(host, from, directory),
            Order::Retire(host) => {
                let site = intent(host);
                if !state.iter().any(|(_, said)| said.owner == site) {
                    let message = format!(
                        "`{host}` did not become a web server, so it is none that could retire"
                    );
                    let trouble = Diagnostic::error(FORM, message);
                    let help =
                        format!("`retract host {host}` retracts all that is asserted about a host");
                    return Err(trouble.help(help).into());
                }
                let commands = vec![Command::apply(intent(host), Vec::new(), &Words)];
                writes(commands, Some(format!("retire {host}")))
            }
            Order::Commit => writes(Vec::new(), None),
        }
    }

    fn post(&self, post: &Post, owner: &str, directory: &Path) -> Result<Meant, Refused> {
        let from = directory.join(&post.from);
        let staged = self
            .content
            .stage(&from)
            .map_err(|why| unfit(why, directory))?;
        let from = self.host.canonical(&from).map_err(failed)?;
        let at = |aspect, url: &Url| Subject::At(post.host.clone(), aspect, url.clone());
        let form = |message: &str| Refused::from(Diagnostic::error(FORM, message));
        let media = post.media.clone();
        let mut said = Vec::new();
        match staged {
            Staged::Tree(_) if post.as_index => {
                return Err(form("an index is a file, and not a directory"));
            }
            Staged::Tree(hash) => {
                said.push((at(Aspect::Tree, &post.url.as_directory()), Said::Tree(hash)))
            }
            Staged::Blob(hash) if post.as_index => {
                let media = media.or_else(|| Media::by_name(&post.from));
                let Some(media) = media else {
                    let trouble =
                        Diagnostic::error(FORM, "the type of the index is not known by its name");
                    return Err(trouble.help("`--type text/html` says it").into());
                };
                said.push((at(Aspect::Index, &post.url), Said::Typed(hash, media)));
            }
            Staged::Blob(_) if post.url.is_directory() => {
                let trouble = Diagnostic::error(
                    FORM,
                    format!("`{}` is a directory, and a file is posted", post.url),
                );
                let help = "`--as-index` makes it what the directory answers; or name it, without `/` at the end";
                return Err(trouble.help(help).into());
            }
            Staged::Blob(hash) => {
                said.push((at(Aspect::File, &post.url), Said::Blob(hash)));
                said.extend(media.map(|media| (at(Aspect::Type, &post.url), Said::Type(media))));
            }
        }
        let assert = |(subject, said): (Subject, Said)| Command::Assert {
            owner: owner.into(),
            key: subject.key(),
            value: Value::from(&said),
        };
        let mut meant = vec!["post".to_owned(), from.display().to_string()];
        meant.push(format!("http://{}{}", post.host, post.url));
        if post.as_index {
            meant.push("--as-index".to_owned());
        }
        if let Some(media) = &post.media {
            meant.extend(["--type".to_owned(), media.to_string()]);
        }
        Ok(Meant {
            commands: said.into_iter().map(assert).collect(),
            meant: Some(crate::language::joined(&meant)),
        })
    }

    fn post_cert(&self, post: &PostCert, owner: &str, directory: &Path) -> Result<Meant, Refused> {
        let read = |name: &str| {
            let path = directory.join(name);
            let held = self.host.read(&path).map_err(failed)?;
            held.ok_or_else(|| Refused::from(unfit(Unfit::Missing(path), directory)))
        };
        let certificate = Certificate::read(&read(&post.chain)?, &read(&post.key)?);
        let certificate = certificate.map_err(|why| {
            let message = format!("`{}` and `{}` cannot be used: {why}", post.chain, post.key);
            let help = "the chain begins with the certificate of the host, and the key is in a file of its own";
            Refused::from(Diagnostic::error(CERTIFICATE, message).help(help))
        })?;
        let hash = self.certificates.stage(&certificate).map_err(failed)?;
        let canonical = |name: &str| {
            let path = self.host.canonical(&directory.join(name)).map_err(failed)?;
            Ok::<_, Refused>(path.display().to_string())
        };
        let words = [
            "post".to_owned(),
            "cert".to_owned(),
            canonical(&post.chain)?,
            canonical(&post.key)?,
            post.host.to_string(),
            post.endpoint.to_string(),
        ];
        Ok(Meant {
            commands: vec![Command::Assert {
                owner: owner.into(),
                key: Subject::Cert(post.host.clone(), post.endpoint).key(),
                value: Value::from(&Said::Cert(hash)),
            }],
            meant: Some(crate::language::joined(&words)),
        })
    }

    /// The order that posted what is at a URL: the history says it. What was restored or copied since was posted when it
    /// came first.
    fn posted(&self, state: &State, host: &Name, url: &Url) -> Result<Order, Refused> {
        let directory = url.as_directory();
        let places = [
            (Aspect::Index, &directory),
            (Aspect::File, url),
            (Aspect::Tree, &directory),
        ];
        let mut help = "`post FILE|DIRECTORY URL` posts it";
        for (aspect, url) in places {
            let key = Subject::At(host.clone(), aspect, url.clone()).key();
            let Some(assertion) = state.get(&key) else {
                continue;
            };
            if assertion.since > self.repository.version() {
                help = "what is there is pending, so it can be posted once more";
                continue;
            }
            for entry in self.repository.log() {
                let entry = entry?;
                let (Origin::Command(text), Act::Commit { changes, .. }) =
                    (&entry.origin, &entry.act)
                else {
                    continue;
                };
                let came = |change: &&Change| {
                    let after = change.after.as_ref();
                    after.is_some_and(|after| after.value == assertion.value)
                };
                let places = changes.iter().filter(came);
                let mut names = places.filter_map(|change| match Subject::of(&change.key)? {
                    Subject::At(name, at, of) => (at == aspect && of == *url).then_some(name),
                    _ => None,
                });
                let lines = || {
                    text.lines()
                        .rev()
                        .filter_map(|line| line.strip_prefix("# "))
                };
                let order = names.find_map(|name| {
                    lines().find_map(|line| match read_order(line)? {
                        Order::Post(post) if post.is_about(&name, aspect, url) => {
                            let host = host.clone();
                            Some(Order::Post(Post { host, ..post }))
                        }
                        Order::Become(site, from) if site == name && site == *host => {
                            Some(Order::Become(site, from))
                        }
                        _ => None,
                    })
                });
                if let Some(order) = order {
                    return Ok(order);
                }
            }
        }
        let message = format!("nothing that was posted is at http://{host}{url}");
        Err(Diagnostic::error(NOT_POSTED, message).help(help).into())
    }

    /// A host that is all of a directory; its files `index.html` are the indexes of theirs.
    fn become_site(&self, host: &Name, from: &str, directory: &Path) -> Result<Meant, Refused> {
        let path = directory.join(from);
        let hash = match self
            .content
            .stage(&path)
            .map_err(|why| unfit(why, directory))?
        {
            Staged::Tree(hash) => hash,
            Staged::Blob(_) => {
                let trouble = Diagnostic::error(
                    FORM,
                    format!("`{from}` is a file, and a site is a directory"),
                );
                return Err(trouble.into());
            }
        };
        let path = self.host.canonical(&path).map_err(failed)?;
        let set = self.site_of(host, hash).ok_or_else(|| {
            Refused::from(Diagnostic::error(
                UNFIT,
                "what was just staged cannot be read again",
            ))
        })?;
        let words = [
            "become",
            "web-server",
            host.as_str(),
            "--from",
            &path.display().to_string(),
        ];
        Ok(Meant {
            commands: vec![Command::apply(intent(host), set, &Words)],
            meant: Some(crate::language::joined(&words.map(str::to_owned))),
        })
    }

    fn site_of(&self, host: &Name, hash: Hash) -> Option<Vec<(Key, Value)>> {
        let tree = self.content.tree(hash)?;
        let mut said = vec![
            (Subject::Host(host.clone()), Said::So),
            (
                Subject::At(host.clone(), Aspect::Tree, Url::root()),
                Said::Tree(hash),
            ),
        ];
        let html = Media::read("text/html").ok()?;
        for (url, blob) in indexes(&tree, &Url::root()) {
            let subject = Subject::At(host.clone(), Aspect::Index, url);
            said.push((subject, Said::Typed(blob, html.clone())));
        }
        let key = |(subject, said): (Subject, Said)| (subject.key(), Value::from(&said));
        Some(said.into_iter().map(key).collect())
    }
}

/// The directories of a snapshot that have a file `index.html`, as URLs below the one where it is, and those files.
pub fn indexes(tree: &Tree, top: &Url) -> Vec<(Url, Hash)> {
    let mut indexes = Vec::new();
    for (path, file) in tree.files() {
        let above = path.strip_suffix("index.html");
        let above = above.filter(|above| above.is_empty() || above.ends_with('/'));
        let url = above.map(|above| Url::read(&format!("{top}{}", encode(above))));
        if let Some(Ok(url)) = url {
            indexes.push((url, file.hash));
        }
    }
    indexes
}

/// Who owns what a host became.
fn intent(host: &Name) -> String {
    format!("become:{host}")
}

/// What was meant by an assertion, as the words say with which it came.
pub fn meant<'t>(origin: &'t str, key: &Key, owner: &str) -> Option<&'t str> {
    let subject = Subject::of(key)?;
    let host = subject.host()?;
    let mut lines = origin.lines().filter_map(|line| line.strip_prefix("# "));
    lines.rfind(|line| match (read_order(line), &subject) {
        (Some(Order::Post(post)), Subject::At(_, aspect, url)) => post.is_about(host, *aspect, url),
        (Some(Order::PostCert(post)), Subject::Cert(_, endpoint)) => {
            post.host == *host && post.endpoint == *endpoint
        }
        (Some(Order::Post(_) | Order::PostCert(_)), _) => false,
        (_, _) if line.starts_with("become") => owner == intent(host),
        (_, _) => line.ends_with(&format!(" to {host}")),
    })
}

impl Post {
    /// Whether it asserts this about that URL.
    fn is_about(&self, host: &Name, aspect: Aspect, url: &Url) -> bool {
        let is_there = self.host == *host && self.url.as_directory() == url.as_directory();
        let can_be = matches!(
            aspect,
            Aspect::Tree | Aspect::File | Aspect::Type | Aspect::Index
        );
        is_there && can_be && self.as_index == (aspect == Aspect::Index)
    }
}

fn read_order(line: &str) -> Option<Order> {
    let mut sources = hence_model::source::Sources::default();
    let file = sources.add("history", line).ok()?;
    let orders = crate::language::parse(&sources, file, "").ok()?;
    Some(orders.into_iter().next()?.order)
}

/// Why something cannot be staged, as seen from a directory.
pub fn unfit(unfit: Unfit, directory: &Path) -> Diagnostic {
    let mut code = UNFIT;
    let (path, message, help) = match unfit {
        Unfit::Failed(path, error) if error.kind() == ErrorKind::StorageFull => {
            code = NO_ROOM;
            let help = "make room on the disk of the closure";
            (path, "there is no room for it".to_owned(), help)
        }
        Unfit::Failed(path, error) if error.kind() == ErrorKind::Other => {
            (path, error.to_string(), "")
        }
        Unfit::Failed(path, error) if error.kind() == ErrorKind::NotFound => {
            let message = "it is gone, or it is a link that leads to nothing";
            (path, message.to_owned(), "")
        }
        Unfit::Failed(path, error) => (path, error.kind().to_string(), ""),
        Unfit::Missing(path) => (path, "it is not there".to_owned(), ""),
        Unfit::Escapes(path) => (
            path,
            "this link leads out of the directory, or to another one".to_owned(),
            "put what it leads to in its place",
        ),
        Unfit::NoFile(path) => (path, "it is neither a file nor a directory".to_owned(), ""),
        Unfit::Name(path) => (
            path,
            "its name cannot be one in a URL".to_owned(),
            "rename it",
        ),
    };
    let path = path.strip_prefix(directory).unwrap_or(&path);
    let message = format!("`{}` cannot be staged: {message}", path.display());
    let trouble = Diagnostic::error(code, message);
    match help.is_empty() {
        true => trouble,
        false => trouble.help(help),
    }
}
