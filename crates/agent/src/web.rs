//! Web sites: the part of a configuration that a closure on the node serves.
//!
//! All that the fleet asserts there is one owner's set. It is staged with the files of the configuration, content and
//! all, and served behind them: a closure serves the new set, or what it served before.

use std::io;
use std::path::PathBuf;

use hence_api::client::escaped;
use hence_api::words::{Configuration, Wanted, frames};
use hence_closure::address::Endpoint;
use hence_closure::closure::{Closure, Manner, NO_CLOSURE, Published, init};
use hence_closure::content::{Staged, Tree, Trees};
use hence_closure::part::{self, OWNER, Part};
use hence_closure::server::Server;
use hence_closure::words::{Subject, Words};
use hence_ledger::entry::Origin;
use hence_ledger::{Command, Hash, Key, Value};
use hence_model::diagnostic::Diagnostic;
use hence_store::{Refused, Request};

use crate::round::Agent;
use crate::state::State;
use crate::{Doing, Error};

/// A closure on the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Web {
    /// Its root.
    pub root: PathBuf,
    /// The server that it is made with.
    pub server: Server,
    /// Where that listens: what the node says about it, and nobody else.
    pub listen: Vec<Endpoint>,
}

/// Whose assertions it is where the server listens.
const NODE: &str = "node";

/// So many contents are asked for at once.
const MANY: usize = 4096;

/// What came of it: nothing, or why it is not as it should be, and was left as it was.
type Tried = Result<Result<(), String>, Error>;

impl Agent<'_> {
    /// What a configuration says about web sites; none if there is no closure for it here.
    pub(crate) fn part(&self, configuration: &Configuration) -> Result<Option<Part>, String> {
        let parameters = configuration.parameters.iter();
        let parameters = parameters.map(|(name, value)| (name.as_str(), value.as_str()));
        if self.settings.web.is_none() {
            return Ok(None);
        }
        let part = Part::read(parameters).map_err(|faults| {
            let messages = faults.into_iter().map(|fault| fault.message);
            messages.collect::<Vec<_>>().join("; ")
        })?;
        Ok(Some(part))
    }

    /// What is told if a configuration has web sites and the node has nothing to serve them with.
    pub(crate) fn unserved(&self, configuration: &Configuration) -> Option<String> {
        let mut names = configuration.parameters.keys();
        let has_part = names.any(|name| part::is_part(name));
        let message = "no `http` is configured on the node, so its web sites are not served";
        (has_part && self.settings.web.is_none()).then(|| message.to_owned())
    }

    /// The content is here, and nothing speaks against it. Nothing that is served changes.
    pub(crate) fn stage_web(&self, part: &Part) -> Tried {
        let Some(web) = &self.settings.web else {
            return Ok(Ok(()));
        };
        let closure = match self.closure(web)? {
            Ok(closure) => closure,
            Err(why) => return Ok(Err(why)),
        };
        self.fetch(&closure, part)?;
        let manner = Manner {
            dormant: true,
            ..Manner::default()
        };
        let planned = closure.plan(OWNER, &[applied(OWNER, part.set())], manner);
        Ok(planned.map(drop).map_err(|troubles| worded(&troubles)))
    }

    /// The closure serves it, or goes on with what it served.
    pub(crate) fn serve(&self, part: &Part, version: u64) -> Tried {
        let Some(web) = &self.settings.web else {
            return Ok(Ok(()));
        };
        let mut closure = match self.closure(web)? {
            Ok(closure) => closure,
            Err(why) => return Ok(Err(why)),
        };
        self.fetch(&closure, part)?;
        let listens = web.listen.iter().map(|endpoint| {
            let key = Subject::Listen(*endpoint).key();
            (key, Value::Nothing)
        });
        let message = format!("version {version}");
        for (owner, set) in [(NODE, listens.collect()), (OWNER, part.set())] {
            let commands = [applied(owner, set)];
            let words = hence_closure::language::written(&commands);
            let request = self.request(owner, &message, words);
            let manner = Manner {
                dormant: true,
                ..Manner::default()
            };
            let committed = closure.commit(&request, &commands, manner);
            match sorted(committed)? {
                Ok(Published::RolledBack { why, .. }) => return Ok(Err(worded(&why))),
                Ok(_) => {}
                Err(why) => return Ok(Err(why)),
            }
            // What is asserted next is tried on a server that runs.
            if let Err(why) = sorted(closure.start())? {
                return Ok(Err(why));
            }
        }
        Ok(Ok(()))
    }

    /// How what is served differs from what is installed; it is put right at once.
    pub(crate) fn mend_web(&self, state: &State, part: &Part) -> Result<Vec<String>, Error> {
        let (Some(web), Some(installed)) = (&self.settings.web, &state.installed) else {
            return Ok(Vec::new());
        };
        let mut wrong = Vec::new();
        let root = web.root.display();
        match Closure::open(self.machine, &web.root) {
            Err(refused) if refused.is(NO_CLOSURE) => wrong.push(format!("`{root}` is gone")),
            opened => {
                let mut closure = match sorted(opened)? {
                    Ok(closure) => closure,
                    Err(why) => return Ok(vec![why]),
                };
                // Whoever waited for somebody to confirm it may be gone, with the machine perhaps.
                if let Err(why) = sorted(closure.expire(self.host.now()))? {
                    wrong.push(why);
                }
                if Part::of(closure.repository().state(), OWNER) != *part {
                    let message = format!("`{root}` asserts something else than the fleet does");
                    wrong.push(message);
                }
                match sorted(closure.process())? {
                    Ok(Some(_)) => {}
                    Ok(None) => wrong.push(format!("the server in `{root}` does not run")),
                    Err(why) => wrong.push(why),
                }
                let found = sorted(closure.validate())?.unwrap_or_else(|why| {
                    wrong.push(why);
                    Vec::new()
                });
                if !found.is_empty() {
                    wrong.push(worded(&found));
                    let request = self.request(OWNER, "", "repair".to_owned());
                    if let Err(why) = sorted(closure.repair(&request))? {
                        wrong.push(why);
                    }
                }
            }
        }
        if !wrong.is_empty()
            && let Err(why) = self.serve(part, installed.version)?
        {
            wrong.push(why);
        }
        Ok(wrong)
    }

    fn request(&self, owner: &str, message: &str, words: String) -> Request {
        Request {
            author: self.settings.node.clone(),
            owner: owner.to_owned(),
            time: self.host.now(),
            message: message.to_owned(),
            origin: Origin::Command(words),
            objects: Vec::new(),
            if_version: None,
        }
    }

    /// The closure of this node, made if it is not there; or why there is none.
    fn closure(&self, web: &Web) -> Result<Result<Closure<'_>, String>, Error> {
        let opened = match Closure::open(self.machine, &web.root) {
            Err(refused) if refused.is(NO_CLOSURE) => {
                if let Err(why) = sorted(init(self.machine, &web.root, web.server))? {
                    return Ok(Err(why));
                }
                Closure::open(self.machine, &web.root)
            }
            opened => opened,
        };
        sorted(opened)
    }

    /// Fetches content that is not here: lists of directories first, and then what is in them.
    fn fetch(&self, closure: &Closure<'_>, part: &Part) -> Result<(), Error> {
        let doing = || "fetching the content of web sites".to_owned();
        let content = closure.content();
        let is_missing = |hash: &Hash| matches!(content.size(*hash), Ok(None));
        let named = part.contents().into_iter();
        let (mut hashes, mut trees) = (Vec::new(), Vec::new());
        for staged in named {
            match staged {
                Staged::Blob(hash) => hashes.push(hash),
                Staged::Tree(hash) => trees.push(hash),
            }
        }
        let lists = trees.iter().copied().filter(&is_missing).collect();
        self.fetch_all(closure, lists)?;
        for tree in trees {
            let list = content.tree(tree).ok_or(io::ErrorKind::InvalidData);
            let list = list.map_err(io::Error::from).doing(doing)?;
            hashes.extend(Tree::files(&list).map(|(_, file)| file.hash));
        }
        hashes.retain(is_missing);
        hashes.sort();
        hashes.dedup();
        self.fetch_all(closure, hashes)
    }

    fn fetch_all(&self, closure: &Closure<'_>, mut hashes: Vec<Hash>) -> Result<(), Error> {
        let doing = || "fetching the content of web sites".to_owned();
        let path = format!("nodes/{}/contents", escaped(&self.settings.node));
        while !hashes.is_empty() {
            let asked: Vec<Hash> = hashes.iter().copied().take(MANY).collect();
            let wanted = Wanted {
                hashes: asked.clone(),
            };
            let bytes = self.client.exchange(&path, &wanted).map_err(|failure| {
                let troubles = failure.diagnostics();
                io::Error::other(worded(&troubles))
            });
            let contents = frames::read(&bytes.doing(doing)?).unwrap_or_default();
            let good = asked.iter().zip(&contents).filter_map(|(hash, content)| {
                let content = content.as_deref()?;
                (Hash::of(content) == *hash).then_some((*hash, content))
            });
            let good: Vec<(Hash, &[u8])> = good.collect();
            if good.is_empty() {
                // Another version may be active by now.
                let message = format!("the server does not send {}", asked[0]);
                return Err(io::Error::other(message)).doing(doing);
            }
            let bytes: Vec<&[u8]> = good.iter().map(|(_, content)| *content).collect();
            closure.content().stage_all(&bytes).doing(doing)?;
            let here: std::collections::HashSet<Hash> =
                good.iter().map(|(hash, _)| *hash).collect();
            hashes.retain(|hash| !here.contains(hash));
        }
        Ok(())
    }
}

/// All that an owner asserts.
fn applied(owner: &str, set: Vec<(Key, Value)>) -> Command {
    Command::apply(owner, set, &Words)
}

/// What failed because of what was asked, apart from what failed because of the world.
fn sorted<T>(result: Result<T, Refused>) -> Result<Result<T, String>, Error> {
    match result {
        Ok(good) => Ok(Ok(good)),
        Err(Refused::Because(troubles)) => Ok(Err(worded(&troubles))),
        Err(Refused::Failed(error)) => {
            let trouble = Diagnostic::from(error);
            let message = worded(std::slice::from_ref(&trouble));
            Err(io::Error::other(message)).doing(|| "serving web sites".to_owned())
        }
    }
}

fn worded(troubles: &[Diagnostic]) -> String {
    let troubles = troubles.iter().filter(|trouble| trouble.is_error());
    let messages = troubles.map(|trouble| trouble.message.as_str());
    messages.collect::<Vec<_>>().join("; ")
}
