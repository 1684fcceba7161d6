//! What would be asserted in vain: what has no effect, and redirects that lead round and round.
//!
//! What has no effect yet is told, and so is what has none any more: it may be meant for later, and what a snapshot holds is no
//! matter of keys. A ring of redirects is refused, since nobody can mean it.

use std::collections::BTreeSet;

use hence_ledger::admission::DORMANT;
use hence_ledger::{Change, Key, State};
use hence_model::diagnostic::{Code, Diagnostic};

use crate::address::{Name, Url};
use crate::content::Trees;
use crate::site::{Asleep, Host, Site, asleep};
use crate::words::{self, Aspect, Subject};

/// Redirects lead back to where they began.
pub const RING: Code = Code::new("http.ring");

/// What is new in a state.
pub struct News<'n> {
    /// What is asserted.
    pub state: &'n State,
    /// The site that is.
    pub site: &'n Site,
    /// What that is a change of.
    pub old: &'n Site,
    /// What changed.
    pub changes: &'n [Change],
}

/// What would be asserted in vain.
pub fn check(news: &News<'_>, trees: &dyn Trees) -> Vec<Diagnostic> {
    let mut troubles = without_effect(news, trees);
    let old: BTreeSet<Way> = rings(news.old, trees).into_iter().flatten().collect();
    let rings = rings(news.site, trees).into_iter();
    let new = rings.filter(|ring| ring.iter().any(|way| !old.contains(way)));
    troubles.extend(new.map(|ring| told(news.site, &ring)));
    troubles
}

fn without_effect(news: &News<'_>, trees: &dyn Trees) -> Vec<Diagnostic> {
    let site = news.site;
    let is_new = |one: &&Change| one.before.is_none();
    let new: BTreeSet<&Key> = (news.changes.iter().filter(is_new).map(|one| &one.key)).collect();
    let subjects = news.changes.iter().filter_map(|one| Subject::of(&one.key));
    let hosts: BTreeSet<Name> = subjects.filter_map(|one| one.host().cloned()).collect();
    let mut troubles = Vec::new();
    for (key, assertion) in news.state.iter() {
        let Some((subject, said)) = words::read(key, &assertion.value) else {
            continue;
        };
        let may_sleep = match &subject {
            Subject::At(host, Aspect::Type | Aspect::Listing | Aspect::Access, _) => {
                hosts.contains(host)
            }
            Subject::Cert(..) | Subject::Default(_) => true,
            _ => false,
        };
        // What has no host is told by who knows that from the keys alone.
        let has_host = |host: &Name| site.hosts.contains_key(host);
        if !may_sleep || !subject.host().is_none_or(has_host) {
            continue;
        }
        let sleeps = |site: &Site| asleep(&subject, &said, site, trees);
        let Some(Asleep { why, partly }) = sleeps(site) else {
            continue;
        };
        let since = match new.contains(key) {
            true => "yet",
            false if sleeps(news.old).is_none() => "any more",
            false => continue,
        };
        let effect = match partly {
            true => "not all of its effect",
            false => "no effect",
        };
        let message = format!("`{subject}` has {effect} {since}: {why}");
        let trouble = Diagnostic::warning(DORMANT, message).path(subject.to_string());
        troubles.push(trouble.help(format!("`retract {subject}` takes it back")));
    }
    troubles
}

/// A URL of a host that leads elsewhere.
type Way = (Name, Url);

/// The ways that lead back to where they begin, each ring once.
fn rings(site: &Site, trees: &dyn Trees) -> Vec<Vec<Way>> {
    let mut rings = Vec::new();
    let mut done: BTreeSet<Way> = BTreeSet::new();
    for (name, host) in &site.hosts {
        for url in host.redirects.keys() {
            let mut row: Vec<Way> = Vec::new();
            let mut next = Some((name.clone(), url.clone()));
            while let Some(way) = next.take() {
                if let Some(start) = row.iter().position(|earlier| *earlier == way) {
                    rings.push(row.split_off(start));
                    break;
                }
                if !done.insert(way.clone()) {
                    break;
                }
                next = leads(site, &way, trees);
                row.push(way);
            }
        }
    }
    rings
}

/// Where a URL of a host leads, if that is a URL of a host that is served here.
fn leads(site: &Site, (name, url): &Way, trees: &dyn Trees) -> Option<Way> {
    let host = site.hosts.get(name)?;
    if let Some((_, target)) = host.redirects.get(url) {
        return meant(site, name, target.as_str());
    }
    // The name of a directory leads to the directory, which leads on only if that is said; only then snapshots are read.
    host.redirects.get(&url.as_directory())?;
    let to = host.leads_to_directory(url, trees)?;
    Some((name.clone(), to))
}

/// The URL here that an address means.
fn meant(site: &Site, name: &Name, target: &str) -> Option<Way> {
    if target.starts_with('/') {
        return Some((name.clone(), Url::requested(target)?));
    }
    let (scheme, rest) = target.split_once("://")?;
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let (named, port) = match authority.split_once(':') {
        Some((named, port)) => (named, port.parse().ok()?),
        None => (authority, if scheme == "https" { 443 } else { 80 }),
    };
    let named = Name::read(named).ok()?;
    let mut here = site
        .endpoints
        .iter()
        .filter(|endpoint| endpoint.port() == port && site.scheme(**endpoint) == scheme);
    let (host, _) = here.find_map(|endpoint| site.host(*endpoint, &named))?;
    let path = if path.is_empty() { "/" } else { path };
    Some((host.clone(), Url::requested(path)?))
}

fn told(site: &Site, ring: &[Way]) -> Diagnostic {
    let names = ring.iter().chain(ring.first());
    let names = names.map(|(name, url)| format!("http://{name}{url}"));
    let names: Vec<String> = names.collect();
    let message = format!("redirects go round and round: {}", names.join(" → "));
    let is_redirect = |(name, url): &&Way| {
        let host: Option<&Host> = site.hosts.get(name);
        host.is_some_and(|host| host.redirects.contains_key(url))
    };
    let (name, url) = ring.iter().find(is_redirect).unwrap_or(&ring[0]);
    let subject = Subject::At(name.clone(), Aspect::Redirect, url.clone()).to_string();
    let trouble = Diagnostic::error(RING, message).path(subject.clone());
    trouble.help(format!("`retract {subject}`, or let it lead elsewhere"))
}
