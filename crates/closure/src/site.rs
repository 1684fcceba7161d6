//! The service that a state asserts, and which of its assertions have no effect.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use ecow::EcoString;
use hence_ledger::{Hash, Key, State};

use crate::address::{Endpoint, Name, Url};
use crate::content::Trees;
use crate::media::{Media, TEXTS};
use crate::words::{self, Aspect, Feature, Policy, Said, Subject, Target, Upstream, Who};

/// All that is served.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Site {
    /// Where the server listens.
    pub endpoints: BTreeSet<Endpoint>,
    /// Those where it speaks TLS.
    pub secured: BTreeSet<Endpoint>,
    /// Whose certificates are shown there to who names no host that is served.
    pub defaults: BTreeMap<Endpoint, Name>,
    /// What becomes of hosts whose names lead elsewhere, if that is said.
    pub names: Option<Policy>,
    /// The types that are sent compressed to who wants it.
    pub compressed: BTreeSet<String>,
    /// The hosts, by name.
    pub hosts: BTreeMap<Name, Host>,
}

/// A host and what is said about its URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// The endpoints where it is served; all, if none are named.
    pub on: Option<Vec<Endpoint>>,
    /// Why it is not served for now, if it is not.
    pub held: Option<EcoString>,
    /// Its certificates, by the endpoints where they are shown.
    pub certs: BTreeMap<Endpoint, Hash>,
    /// Its other names.
    pub aliases: BTreeSet<Name>,
    /// Snapshots, by the directories that they are below.
    pub trees: BTreeMap<Url, Hash>,
    /// Content, by URL.
    pub files: BTreeMap<Url, Hash>,
    /// What directories answer.
    pub indexes: BTreeMap<Url, (Hash, Media)>,
    /// Directories that may be listed.
    pub listings: BTreeSet<Url>,
    /// Types of single URLs.
    pub types: BTreeMap<Url, Media>,
    /// Where URLs lead.
    pub redirects: BTreeMap<Url, (u16, Target)>,
    /// Who may read what is below a directory.
    pub accesses: BTreeMap<Url, Who>,
    /// The sums of users' passwords.
    pub users: BTreeMap<EcoString, EcoString>,
    /// Who answers what is below a directory.
    pub proxies: BTreeMap<Url, Upstream>,
    /// How many bytes of content it may have.
    pub quota: Option<u64>,
    /// Checks that may fail, with the reasons.
    pub waived: BTreeMap<(EcoString, Url), EcoString>,
}

/// What answers the URLs below a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mount<'s> {
    /// A snapshot.
    Tree(Hash),
    /// Another server.
    Proxy(&'s Upstream),
}

impl Site {
    /// What a state asserts.
    pub fn of(state: &State) -> Self {
        let mut site = Self::default();
        let assertions = state.iter().map(|(key, assertion)| (key, &assertion.value));
        let mut below = Vec::new();
        for (subject, said) in assertions.filter_map(|(key, value)| words::read(key, value)) {
            match (subject, said) {
                (Subject::Listen(endpoint), said) => {
                    site.endpoints.insert(endpoint);
                    if said == Said::Tls {
                        site.secured.insert(endpoint);
                    }
                }
                (Subject::Names, Said::Names(policy)) => site.names = Some(policy),
                (Subject::Feature(Feature::Compression), said) => site.compress(&said),
                (Subject::Default(endpoint), Said::Of(name)) => {
                    site.defaults.insert(endpoint, name);
                }
                (Subject::Host(name), said) => {
                    let on = match said {
                        Said::On(endpoints) => Some(endpoints),
                        _ => None,
                    };
                    site.hosts.insert(
                        name,
                        Host {
                            on,
                            ..Host::default()
                        },
                    );
                }
                (subject, said) => below.push((subject, said)),
            }
        }
        for (subject, said) in below {
            if let Some(host) = subject.host().and_then(|name| site.hosts.get_mut(name)) {
                host.hear(subject, said);
            }
        }
        site
    }

    fn compress(&mut self, said: &Said) {
        match said {
            // nginx always sends pages compressed, so they always are.
            Said::Types(types) => {
                let types = types.iter().map(|media| media.essence().to_owned());
                self.compressed = types.chain(["text/html".to_owned()]).collect();
            }
            _ => self.compressed = TEXTS.iter().map(|media| (*media).to_owned()).collect(),
        }
    }

    /// Whether content of a type is sent compressed to who wants it.
    pub fn compresses(&self, media: Option<&Media>) -> bool {
        media.is_some_and(|media| self.compressed.contains(media.essence()))
    }

    /// The host that a name means at an endpoint. A name of its own counts more than another's alias.
    pub fn host(&self, endpoint: Endpoint, name: &Name) -> Option<(&Name, &Host)> {
        let own = self.hosts.get_key_value(name);
        let mut aliased = self.hosts.iter();
        own.filter(|(_, host)| self.serves(host, endpoint))
            .or_else(|| {
                aliased.find(|(_, host)| host.aliases.contains(name) && self.serves(host, endpoint))
            })
            .filter(|_| self.endpoints.contains(&endpoint))
    }

    /// Whether a host is served at an endpoint, if the server listens there: where TLS is spoken, it needs a certificate.
    pub fn serves(&self, host: &Host, endpoint: Endpoint) -> bool {
        let can_speak = !self.secured.contains(&endpoint) || host.certs.contains_key(&endpoint);
        host.is_on(endpoint) && can_speak && host.held.is_none()
    }

    /// Whether other servers answer for something.
    pub fn has_proxies(&self) -> bool {
        self.hosts.values().any(|host| !host.proxies.is_empty())
    }

    /// How addresses at an endpoint begin.
    pub fn scheme(&self, endpoint: Endpoint) -> &'static str {
        match self.secured.contains(&endpoint) {
            true => "https",
            false => "http",
        }
    }

    /// The certificate that is shown to who names this host, or none; `None` if it is nobody's.
    pub fn shown(&self, endpoint: Endpoint, named: Option<&Name>) -> Option<Hash> {
        // An address is nothing that a client can name.
        let named = named.filter(|name| name.as_str().parse::<IpAddr>().is_err());
        let named = named.and_then(|name| self.host(endpoint, name));
        let default = || {
            let name = self.defaults.get(&endpoint)?;
            let host = self.hosts.get_key_value(name)?;
            Some(host).filter(|(_, host)| self.serves(host, endpoint))
        };
        let (_, host) = named.or_else(default)?;
        host.certs.get(&endpoint).copied()
    }

    /// Where each host is served, and by which names there.
    pub fn served(&self) -> BTreeMap<&Name, Vec<(Endpoint, Vec<&Name>)>> {
        let mut served: BTreeMap<&Name, Vec<(Endpoint, Vec<&Name>)>> = BTreeMap::new();
        for endpoint in &self.endpoints {
            let mut here: BTreeMap<&Name, Vec<&Name>> = BTreeMap::new();
            for (name, host) in self.names(*endpoint) {
                here.entry(host).or_default().push(name);
            }
            for (host, names) in here {
                served.entry(host).or_default().push((*endpoint, names));
            }
        }
        served
    }

    /// All names that are served at an endpoint, and the hosts that they mean.
    pub fn names(&self, endpoint: Endpoint) -> BTreeMap<&Name, &Name> {
        let mut names = BTreeMap::new();
        let hosts = self.hosts.iter();
        let here = || {
            hosts
                .clone()
                .filter(|(_, host)| self.serves(host, endpoint))
        };
        for (name, host) in here() {
            for alias in &host.aliases {
                names.entry(alias).or_insert(name);
            }
        }
        names.extend(here().map(|(name, _)| (name, name)));
        names
    }
}

impl Host {
    fn hear(&mut self, subject: Subject, said: Said) {
        match (subject, said) {
            (Subject::Alias(_, alias), _) => drop(self.aliases.insert(alias)),
            (Subject::Cert(_, endpoint), Said::Cert(cert)) => {
                self.certs.insert(endpoint, cert);
            }
            (Subject::Hold(_), Said::Text(reason)) => self.held = Some(reason),
            (Subject::Quota(_), Said::Quota(bytes)) => self.quota = Some(bytes),
            (Subject::User(_, name), Said::Text(sum)) => drop(self.users.insert(name, sum)),
            (Subject::Waive(_, check, url), Said::Text(reason)) => {
                self.waived.insert((check, url), reason);
            }
            (Subject::At(_, aspect, url), said) => match (aspect, said) {
                (Aspect::Tree, Said::Tree(tree)) => drop(self.trees.insert(url, tree)),
                (Aspect::File, Said::Blob(blob)) => drop(self.files.insert(url, blob)),
                (Aspect::Index, Said::Typed(blob, media)) => {
                    self.indexes.insert(url, (blob, media));
                }
                (Aspect::Listing, _) => drop(self.listings.insert(url)),
                (Aspect::Type, Said::Type(media)) => drop(self.types.insert(url, media)),
                (Aspect::Redirect, Said::Redirect(status, target)) => {
                    self.redirects.insert(url, (status, target));
                }
                (Aspect::Access, Said::Access(who)) => drop(self.accesses.insert(url, who)),
                (Aspect::Proxy, Said::Proxy(upstream)) => drop(self.proxies.insert(url, upstream)),
                _ => {}
            },
            _ => {}
        }
    }

    /// Whether it is meant to be served at an endpoint.
    pub fn is_on(&self, endpoint: Endpoint) -> bool {
        self.on.as_ref().is_none_or(|on| on.contains(&endpoint))
    }

    /// What answers a URL about which nothing more is said: of the directories that it is in, the longest counts.
    pub fn mount(&self, url: &Url) -> Option<(Url, Mount<'_>)> {
        url.directories().find_map(|directory| {
            let mount = self.mount_at(&directory)?;
            Some((directory, mount))
        })
    }

    /// What answers the URLs below exactly this directory.
    pub fn mount_at(&self, directory: &Url) -> Option<Mount<'_>> {
        let tree = self.trees.get(directory).map(|tree| Mount::Tree(*tree));
        tree.or_else(|| self.proxies.get(directory).map(Mount::Proxy))
    }

    /// Who may read a URL, and the directory about which that is said.
    pub fn access(&self, url: &Url) -> Option<(Url, &Who)> {
        url.directories().find_map(|directory| {
            let who = self.accesses.get(&directory)?;
            Some((directory, who))
        })
    }

    /// Whether a directory is one because something is said about it, or all below it.
    pub fn has_directory(&self, directory: &Url) -> bool {
        self.indexes.contains_key(directory) || self.mount_at(directory).is_some()
    }

    /// The directory to which its name without `/` leads.
    pub fn leads_to_directory(&self, url: &Url, trees: &dyn Trees) -> Option<Url> {
        if url.is_directory() || self.files.contains_key(url) {
            return None;
        }
        let directory = url.as_directory();
        let is_one = self.has_directory(&directory)
            || !tree_file(self, url, trees) && tree_directory(self, &directory, trees);
        is_one.then_some(directory)
    }

    /// All URLs that lead elsewhere, with which status, and where: what is said, and names of directories without `/`.
    pub fn ways(&self) -> Vec<(Url, u16, String)> {
        let said = self.redirects.iter();
        let said = said.map(|(url, (status, to))| (url.clone(), *status, to.as_str().to_owned()));
        let leading = self.leading();
        let leading = leading.map(|(url, directory)| (url, 301, directory.to_string()));
        said.chain(leading).collect()
    }

    /// The URLs, without `/` at their end, that lead to directories about which something is said.
    fn leading(&self) -> impl Iterator<Item = (Url, &Url)> {
        let directories = self
            .indexes
            .keys()
            .chain(self.trees.keys())
            .chain(self.proxies.keys());
        let directories: BTreeSet<&Url> = directories.collect();
        directories.into_iter().filter_map(|directory| {
            let url = directory.as_file()?;
            let is_free = !self.files.contains_key(&url) && !self.redirects.contains_key(&url);
            is_free.then_some((url, directory))
        })
    }
}

/// Why an assertion has not all of its effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asleep {
    /// What it lacks.
    pub why: String,
    /// Whether it has some effect all the same.
    pub partly: bool,
}

impl std::fmt::Display for Asleep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.why)
    }
}

impl Asleep {
    fn wholly(why: impl Into<String>) -> Self {
        let why = why.into();
        Self { why, partly: false }
    }
}

/// The assertions that have no effect, or not all of it, and why.
pub fn dormant(state: &State, site: &Site, trees: &dyn Trees) -> Vec<(Key, Asleep)> {
    let mut dormant = Vec::new();
    for (key, assertion) in state.iter() {
        let Some((subject, said)) = words::read(key, &assertion.value) else {
            continue;
        };
        if let Some(why) = asleep(&subject, &said, site, trees) {
            dormant.push((key.clone(), why));
        }
    }
    dormant
}

/// Why an assertion has not all of its effect, if it has not.
pub fn asleep(subject: &Subject, said: &Said, site: &Site, trees: &dyn Trees) -> Option<Asleep> {
    let name = match (subject, said) {
        (Subject::Listen(_) | Subject::Names | Subject::Feature(_) | Subject::Right(..), _) => {
            return None;
        }
        (Subject::Default(endpoint), Said::Of(name)) => {
            let is_shown = site.secured.contains(endpoint)
                && site
                    .hosts
                    .get(name)
                    .is_some_and(|host| site.serves(host, *endpoint));
            let why = || Asleep::wholly(format!("there is no `cert {name} {endpoint}` to show"));
            return (!is_shown).then(why);
        }
        (subject, _) => subject.host()?,
    };
    let Some(host) = site.hosts.get(name) else {
        return Some(Asleep::wholly(format!("there is no `host {name}`")));
    };
    match (subject, said) {
        (Subject::Host(_), _) => {
            if let Some(reason) = &host.held {
                return Some(Asleep::wholly(format!("it is held: {reason}")));
            }
            let meant = site.endpoints.iter().filter(|at| host.is_on(**at));
            let (served, mute): (Vec<&Endpoint>, Vec<&Endpoint>) =
                meant.partition(|at| site.serves(host, **at));
            match (mute.first(), served.is_empty()) {
                (None, false) => None,
                (None, true) => Some(Asleep::wholly("the server listens nowhere where it is")),
                (Some(mute), is_mute) => Some(Asleep {
                    why: format!("at {mute}, where TLS is spoken, it has no `cert`"),
                    partly: !is_mute,
                }),
            }
        }
        (Subject::Cert(_, endpoint), _) => {
            let why = match site.endpoints.contains(endpoint) {
                false => "the server does not listen there",
                true if !site.secured.contains(endpoint) => "TLS is not spoken there",
                true if !host.is_on(*endpoint) => "the host is not served there",
                true => return None,
            };
            Some(Asleep::wholly(why))
        }
        (Subject::At(_, Aspect::Type, url), _) => {
            let content = host.files.contains_key(url) || tree_file(host, url, trees);
            (!content).then(|| Asleep::wholly("the URL has no content"))
        }
        (Subject::At(_, Aspect::Listing, url), _) => (!tree_directory(host, url, trees))
            .then(|| Asleep::wholly("no snapshot has such a directory")),
        (Subject::At(..), Said::Access(Who::Users(users))) => {
            let unknown = users.iter().find(|user| !host.users.contains_key(*user))?;
            Some(Asleep {
                why: format!("there is no `user {name} {unknown}`"),
                // All others are kept out.
                partly: true,
            })
        }
        _ => None,
    }
}

fn tree_file(host: &Host, url: &Url, trees: &dyn Trees) -> bool {
    let Some((directory, Mount::Tree(tree))) = host.mount(url) else {
        return false;
    };
    let below = url.below(&directory).expect("a mount is above its URLs");
    trees
        .tree(tree)
        .is_some_and(|tree| tree.file(below).is_some())
}

fn tree_directory(host: &Host, url: &Url, trees: &dyn Trees) -> bool {
    let Some((directory, Mount::Tree(tree))) = host.mount(url) else {
        return false;
    };
    let below = url.below(&directory).expect("a mount is above its URLs");
    trees
        .tree(tree)
        .is_some_and(|tree| tree.has_directory(below.trim_end_matches('/')))
}
