//! Whether certificates can be shown for the hosts that they are asserted for: their names, and how long they are valid.

use std::collections::BTreeMap;
use std::io;

use hence_ledger::Change;
use hence_model::diagnostic::Diagnostic;

use super::{CERTIFICATE, Occasion};
use crate::address::{Endpoint, Name};
use crate::certificate::{Certificate, Certificates};
use crate::site::{Host, Site};
use crate::words::Subject;

/// Who has a certificate for a shorter time is told.
const SOON: u64 = 30 * DAY;
const DAY: u64 = 24 * 60 * 60 * 1000;

/// All that is wrong with certificates that some changes are about.
pub fn check(
    site: &Site,
    changes: &[Change],
    certificates: &Certificates<'_>,
    now: u64,
    occasion: Occasion<'_>,
) -> io::Result<Vec<Diagnostic>> {
    let mut troubles = Vec::new();
    for ((name, endpoint), asserted) in touched(site, changes) {
        let host = &site.hosts[&name];
        let subject = Subject::Cert(name.clone(), endpoint);
        let Some(hash) = host.certs.get(&endpoint) else {
            troubles.extend(mute(site, &name, host, endpoint));
            continue;
        };
        // What is missing is told by whoever needs it.
        let Some(certificate) = certificates.get(*hash)? else {
            continue;
        };
        // Whoever says something else about the host did not choose the certificate.
        let may_refuse = asserted && matches!(occasion, Occasion::New(_));
        troubles.extend(valid(&certificate, now, &name, endpoint, may_refuse));
        for other in std::iter::once(&name).chain(&host.aliases) {
            if certificate.covers(other) {
                continue;
            }
            let message = format!("the certificate of `{name}` at {endpoint} is not for `{other}`");
            let trouble = Diagnostic::error(CERTIFICATE, message).path(subject.to_string());
            let other = match *other == name {
                true => String::new(),
                false => format!(", or `retract alias {name} {other}`"),
            };
            let help = format!("{} one that is{other}", post(&name, endpoint));
            troubles.push(trouble.help(help));
        }
    }
    Ok(troubles)
}

/// Certificates that are shown and not valid, or not for long.
pub fn ageing(
    site: &Site,
    certificates: &Certificates<'_>,
    now: u64,
) -> io::Result<Vec<Diagnostic>> {
    let mut troubles = Vec::new();
    for (name, host) in &site.hosts {
        for (endpoint, hash) in &host.certs {
            if site.secured.contains(endpoint)
                && let Some(certificate) = certificates.get(*hash)?
            {
                troubles.extend(valid(&certificate, now, name, *endpoint, false));
            }
        }
    }
    Ok(troubles)
}

/// The hosts and endpoints where TLS is spoken about which something changed, and whether that is the certificate.
fn touched(site: &Site, changes: &[Change]) -> BTreeMap<(Name, Endpoint), bool> {
    let mut touched = BTreeMap::new();
    let mut add = |name: &Name, host: &Host, endpoint: Endpoint, asserted: bool| {
        if site.secured.contains(&endpoint) && host.is_on(endpoint) {
            *touched.entry((name.clone(), endpoint)).or_default() |= asserted;
        }
    };
    for change in changes.iter().filter(|change| change.after.is_some()) {
        let subject = Subject::of(&change.key);
        let host = subject.as_ref().and_then(|subject| {
            let name = subject.host()?;
            Some((name, site.hosts.get(name)?))
        });
        match (&subject, host) {
            (Some(Subject::Listen(endpoint)), _) => {
                for (name, host) in &site.hosts {
                    add(name, host, *endpoint, false);
                }
            }
            (Some(Subject::Cert(_, endpoint)), Some((name, host))) => {
                add(name, host, *endpoint, true);
            }
            (Some(Subject::Host(_) | Subject::Alias(..)), Some((name, host))) => {
                for endpoint in &site.secured {
                    add(name, host, *endpoint, false);
                }
            }
            _ => {}
        }
    }
    touched
}

/// A host that has no certificate where it is named to be, or is nowhere for that reason.
fn mute(site: &Site, name: &Name, host: &Host, endpoint: Endpoint) -> Option<Diagnostic> {
    let is_elsewhere = site.endpoints.iter().any(|at| site.serves(host, *at));
    if is_elsewhere && host.on.is_none() {
        return None;
    }
    let message = format!("`{name}` has no certificate at {endpoint}, so it is not served there");
    let trouble = Diagnostic::warning(CERTIFICATE, message);
    let trouble = trouble.path(Subject::Host(name.clone()).to_string());
    Some(trouble.help(format!("{} one", post(name, endpoint))))
}

fn valid(
    certificate: &Certificate,
    now: u64,
    name: &Name,
    endpoint: Endpoint,
    may_refuse: bool,
) -> Option<Diagnostic> {
    let (is_wrong, state) = match (certificate.from, certificate.until) {
        (from, _) if now < from => (true, "is not valid yet".to_owned()),
        (_, until) if until <= now => (true, "is not valid any more".to_owned()),
        (_, until) if until - now < SOON => {
            let days = (until - now) / DAY;
            (false, format!("is only valid for {days} more days"))
        }
        _ => return None,
    };
    let message = format!("the certificate of `{name}` at {endpoint} {state}");
    let trouble = match is_wrong && may_refuse {
        true => Diagnostic::error(CERTIFICATE, message),
        false => Diagnostic::warning(CERTIFICATE, message),
    };
    let trouble = trouble.path(Subject::Cert(name.clone(), endpoint).to_string());
    Some(trouble.help(format!("{} one that is", post(name, endpoint))))
}

fn post(name: &Name, endpoint: Endpoint) -> String {
    format!("`post cert CHAIN KEY {name} {endpoint}` shows")
}
