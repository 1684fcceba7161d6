//! Whether the names of hosts lead to where they are served, as this machine sees it.
//!
//! ```text
//! warn      it is told, and served                            so it is if nothing is asserted
//! refuse    the commit is refused
//! hold      the host is held, until its names lead here       `hold HOST REASON` stands beside it meanwhile
//! ```
//!
//! Where all endpoints are this machine's own, for itself, it is only told. Names that are reserved lead nowhere, and are
//! not looked up (RFC 2606, RFC 6761).

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hence_ledger::Change;
use hence_model::diagnostic::{Code, Diagnostic};

use super::WARNINGS;
use crate::address::{Endpoint, Name};
use crate::host::Host as Machine;
use crate::site::{Host, Site};
use crate::words::{Policy, Subject};

/// The name of a host leads elsewhere.
pub const NAMES: Code = Code::new("http.names");

/// So long all look-ups of a commit may take, in milliseconds.
const LIMIT: u64 = 10_000;
/// So long one may take.
const ONE: Duration = Duration::from_secs(4);
/// So long one may take of a host where nobody else comes: who tries something at home is not to wait for others.
const OWN: Duration = Duration::from_secs(1);
/// What is below these is nobody's.
const RESERVED: [&str; 7] = [
    "test",
    "example",
    "invalid",
    "localhost",
    "example.com",
    "example.net",
    "example.org",
];

/// Looks names up, each once.
pub struct Names<'m> {
    machine: &'m dyn Machine,
    begun: u64,
    known: RefCell<BTreeMap<Name, Lead>>,
    /// So many could not be looked up in time.
    late: Cell<usize>,
    /// The hosts that are to be held, and why.
    astray: RefCell<BTreeMap<Name, String>>,
}

impl<'m> Names<'m> {
    /// As a machine sees them.
    pub fn new(machine: &'m dyn Machine) -> Self {
        Self {
            machine,
            begun: machine.now(),
            known: RefCell::default(),
            late: Cell::new(0),
            astray: RefCell::default(),
        }
    }

    /// The hosts that have to be held for what was checked to be served, and why.
    pub fn astray(&self) -> BTreeMap<Name, String> {
        self.astray.take()
    }

    /// What is wrong with the names of hosts that some changes are about.
    pub fn check(&self, site: &Site, changes: &[Change]) -> Vec<Diagnostic> {
        let mut told = Vec::new();
        let mut more = 0;
        self.late.set(0);
        for (name, touch) in touched(site, changes) {
            let host = &site.hosts[name];
            let at = endpoints(site, host);
            let is_inside = at.iter().all(|at| at.ip().is_loopback());
            let policy = match is_inside || touch == Touch::Endpoint {
                true => Policy::Warn,
                false => site.names.unwrap_or_default(),
            };
            for (subject, why) in self.elsewhere(name, host, &at) {
                let trouble = match (policy, &host.held) {
                    (Policy::Refuse, _) => {
                        let help = "change where the name leads; or `assert names warn` serves it all the same";
                        Diagnostic::error(NAMES, why).help(help)
                    }
                    (Policy::Hold, None) => {
                        let mut astray = self.astray.borrow_mut();
                        astray.entry(name.clone()).or_insert_with(|| why.clone());
                        Diagnostic::error(NAMES, why)
                    }
                    (_, Some(_)) => {
                        let help = "it is held; a commit after the name leads here serves it";
                        Diagnostic::warning(NAMES, why).help(help)
                    }
                    (Policy::Warn, None) => Diagnostic::warning(NAMES, why).help(match is_inside {
                        true => "it is served, for this machine alone",
                        false => "it is served, for whoever comes",
                    }),
                };
                match trouble.is_error() || told.len() < WARNINGS {
                    true => told.push(trouble.path(subject.to_string())),
                    false => more += 1,
                }
            }
        }
        if more > 0 {
            let message = format!("{more} more names lead elsewhere");
            told.push(Diagnostic::warning(NAMES, message));
        }
        if self.late.get() > 0 {
            let message = format!("{} names could not be looked up in time", self.late.get());
            told.push(Diagnostic::warning(NAMES, message));
        }
        told
    }

    /// The hosts that are held for their names, and could be served.
    pub fn found(&self, site: &Site) -> BTreeSet<Name> {
        let held = site.hosts.iter().filter(|(_, host)| host.held.is_some());
        let found = held.filter(|(name, host)| {
            self.late.set(0);
            let is_here = self
                .elsewhere(name, host, &endpoints(site, host))
                .is_empty();
            site.names != Some(Policy::Hold) || (is_here && self.late.get() == 0)
        });
        found.map(|(name, _)| name.clone()).collect()
    }

    /// The names of a host that lead elsewhere, and where.
    fn elsewhere(&self, name: &Name, host: &Host, at: &[Endpoint]) -> Vec<(Subject, String)> {
        let mut elsewhere = Vec::new();
        let own = (Subject::Host(name.clone()), name);
        let aliases = host.aliases.iter();
        let aliases = aliases.map(|alias| (Subject::Alias(name.clone(), alias.clone()), alias));
        for (subject, other) in std::iter::once(own).chain(aliases) {
            if at.is_empty() || is_reserved(other) {
                continue;
            }
            let here: Vec<String> = at.iter().map(ToString::to_string).collect();
            let here = here.join(", ");
            match self.leads(other, at) {
                Lead::Nowhere(why) => elsewhere.push((
                    subject,
                    format!("`{other}` leads nowhere, and is served at {here}: {why}"),
                )),
                Lead::To(to) if !to.iter().any(|to| self.is_one(*to, at)) => {
                    let to: Vec<String> = to.iter().map(ToString::to_string).collect();
                    let why = format!(
                        "`{other}` leads to {}, and is served at {here}",
                        to.join(", ")
                    );
                    elsewhere.push((subject, why));
                }
                Lead::To(_) => {}
                Lead::Unknown => self.late.set(self.late.get() + 1),
            }
        }
        elsewhere
    }

    /// Whether an address is one of some endpoints.
    fn is_one(&self, address: IpAddr, at: &[Endpoint]) -> bool {
        let is_ours = || {
            self.machine
                .try_endpoint(SocketAddr::new(address, 0))
                .is_ok()
        };
        at.iter().any(|at| match at.ip() {
            ip if ip.is_unspecified() => ip.is_ipv4() == address.is_ipv4() && is_ours(),
            ip => ip == address,
        })
    }

    fn leads(&self, name: &Name, at: &[Endpoint]) -> Lead {
        if let Some(known) = self.known.borrow().get(name) {
            return known.clone();
        }
        let limit = match at.iter().all(|at| at.ip().is_loopback()) {
            true => OWN,
            false => ONE,
        };
        let is_late = self.machine.now().saturating_sub(self.begun) >= LIMIT;
        let lead = match is_late {
            true => Lead::Unknown,
            false => match self.machine.addresses(name.as_str(), limit) {
                Ok(to) => Lead::To(to),
                Err(error) if error.kind() == ErrorKind::TimedOut => Lead::Unknown,
                Err(error) => Lead::Nowhere(error.to_string()),
            },
        };
        self.known.borrow_mut().insert(name.clone(), lead.clone());
        lead
    }
}

/// Where a name leads.
#[derive(Clone)]
enum Lead {
    To(Vec<IpAddr>),
    Nowhere(String),
    /// It takes too long to say.
    Unknown,
}

/// What a change has to do with a host.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Touch {
    /// The server listens elsewhere. Nobody said anything about the host, so it is only told.
    Endpoint,
    /// Its names, or what becomes of them, are other ones.
    Name,
}

/// Where a host is to be served.
fn endpoints(site: &Site, host: &Host) -> Vec<Endpoint> {
    let endpoints = site.endpoints.iter().copied();
    endpoints.filter(|at| host.is_on(*at)).collect()
}

fn is_reserved(name: &Name) -> bool {
    let name = name.as_str();
    let is_below = |of: &&str| {
        let above = name.strip_suffix(of);
        above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
    };
    RESERVED.iter().any(is_below)
}

/// The hosts whose names, or where they should lead, changed.
fn touched<'s>(site: &'s Site, changes: &[Change]) -> BTreeMap<&'s Name, Touch> {
    let mut touched = BTreeMap::new();
    let mut add = |name: &'s Name, touch: Touch| {
        let known = touched.entry(name).or_insert(touch);
        *known = touch.max(*known);
    };
    for change in changes {
        let subject = Subject::of(&change.key);
        match (subject, &change.after) {
            (Some(Subject::Listen(_)), _) => {
                site.hosts
                    .keys()
                    .for_each(|name| add(name, Touch::Endpoint));
            }
            (Some(Subject::Names), _) => {
                site.hosts.keys().for_each(|name| add(name, Touch::Name));
            }
            (Some(Subject::Host(name) | Subject::Alias(name, _)), Some(_))
            | (Some(Subject::Hold(name)), _) => {
                if let Some((name, _)) = site.hosts.get_key_value(&name) {
                    add(name, Touch::Name);
                }
            }
            _ => {}
        }
    }
    touched
}
