//! What the service answers, computed: what would this URL say?
//!
//! ```text
//! cert       another one was shown than that of the host   421
//! host       a name that nobody asserted                   404
//! access     of the longest directory about which it is said   403, 401
//! redirect   of exactly this URL                           its status and target
//! file       of exactly this URL                           200
//! index      of exactly this directory                     200
//! the name of a directory without `/`                      301 to it
//! proxy      of the longest directory                      what the other server says
//! tree       of the longest directory: a file 200, a directory without `/` 301, with `/` its listing or 403
//! all else                                                 404
//! ```
//!
//! Real servers are configured elsewhere, and compared with this.

use std::net::IpAddr;

use hence_ledger::Hash;

use crate::address::{Endpoint, Name, Url};
use crate::content::Trees;
use crate::media::Media;
use crate::site::{Host, Mount, Site};
use crate::words::{Aspect, Subject, Upstream, Who};

/// Somebody wants to read something.
#[derive(Clone, Debug)]
pub struct Request<'r> {
    /// Where they ask.
    pub endpoint: Endpoint,
    /// Which host they named before they were shown a certificate, where TLS is spoken.
    pub named: Option<&'r str>,
    /// Which host they mean.
    pub host: &'r str,
    /// Which URL, as they write it.
    pub path: &'r str,
    /// Where they are.
    pub from: IpAddr,
    /// Whose password they know.
    pub user: Option<&'r str>,
}

/// What they get.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// What is in it.
    pub body: Body,
    /// Of which type that is said to be.
    pub media: Option<Media>,
    /// Where they should go instead.
    pub location: Option<String>,
    /// What decided it; `None` if it is that nothing is asserted.
    pub by: Option<Subject>,
}

/// What is in an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    /// Words of the server, about what went wrong or where to go.
    Words,
    /// This content.
    Content(Hash),
    /// The names in a directory that do not begin with a dot, those of directories with `/`.
    Listing(Vec<String>),
    /// Whatever another server says about a path.
    Other(Upstream, String),
}

/// What the service answers.
pub fn behaviour(site: &Site, trees: &dyn Trees, request: &Request<'_>) -> Answer {
    let read = |name: &str| Name::read(name.trim_end_matches('.')).ok();
    let host = read(request.host).and_then(|name| site.host(request.endpoint, &name));
    if site.secured.contains(&request.endpoint) {
        let named = request.named.and_then(read);
        let shown = site.shown(request.endpoint, named.as_ref());
        let own = match host {
            Some((_, host)) => host.certs.get(&request.endpoint).copied(),
            None => site.shown(request.endpoint, None),
        };
        if shown != own {
            let cert = |(name, _): (&Name, &Host)| Subject::Cert(name.clone(), request.endpoint);
            return refusal(421, host.map(cert));
        }
    }
    let Some((name, host)) = host else {
        return refusal(404, None);
    };
    let Some(url) = Url::requested(request.path) else {
        return refusal(400, None);
    };
    let at = |aspect: Aspect, url: &Url| Subject::At(name.clone(), aspect, url.clone());
    if let Some((directory, who)) = host.access(&url)
        && let Some(status) = denied(who, request, host)
    {
        return refusal(status, Some(at(Aspect::Access, &directory)));
    }
    if let Some((status, target)) = host.redirects.get(&url) {
        let by = at(Aspect::Redirect, &url);
        return lead(*status, target.as_str().to_owned(), by);
    }
    if let Some(blob) = host.files.get(&url) {
        let media = host.types.get(&url).cloned();
        let media = media.or_else(|| Media::by_name(url.as_str()));
        return content(*blob, media, at(Aspect::File, &url));
    }
    if let Some((blob, media)) = host.indexes.get(&url) {
        return content(*blob, Some(media.clone()), at(Aspect::Index, &url));
    }
    let directory = url.as_directory();
    let mount = host.mount(&url);
    if !url.is_directory() && host.has_directory(&directory) {
        let by = match host.indexes.contains_key(&directory) {
            true => Aspect::Index,
            false => aspect(host.mount_at(&directory).expect("it is a directory")),
        };
        return lead(301, directory.to_string(), at(by, &directory));
    }
    let Some((top, mount)) = mount else {
        return refusal(404, Some(Subject::Host(name.clone())));
    };
    let below = url.below(&top).expect("a mount is above its URLs");
    let by = at(aspect(mount), &top);
    let tree = match mount {
        Mount::Proxy(upstream) => {
            let path = format!("{}{}", upstream.path, crate::address::encode(below));
            return Answer {
                body: Body::Other(upstream.clone(), path),
                ..refusal(200, Some(by))
            };
        }
        Mount::Tree(hash) => trees.tree(hash),
    };
    let Some(tree) = tree else {
        return refusal(404, Some(by));
    };
    if let Some(file) = tree.file(below) {
        let media = host.types.get(&url).cloned();
        return content(file.hash, media.or_else(|| Media::by_name(below)), by);
    }
    if !tree.has_directory(below.trim_end_matches('/')) {
        return refusal(404, Some(by));
    }
    if !url.is_directory() {
        return lead(301, directory.to_string(), by);
    }
    if host.listings.contains(&url) {
        let mut names = tree.names(below.trim_end_matches('/'));
        // They are there for who asks for them, and nginx shows them in no listing.
        names.retain(|name| !name.starts_with('.'));
        return Answer {
            body: Body::Listing(names),
            media: Media::read("text/html").ok(),
            ..refusal(200, Some(at(Aspect::Listing, &url)))
        };
    }
    refusal(403, Some(by))
}

/// The status for somebody who may not read.
fn denied(who: &Who, request: &Request<'_>, host: &Host) -> Option<u16> {
    match who {
        Who::All => None,
        Who::None => Some(403),
        Who::Networks(networks) => {
            let is_near = networks
                .iter()
                .any(|network| network.contains(request.from));
            (!is_near).then_some(403)
        }
        Who::Users(users) => {
            let known = request.user.is_some_and(|user| {
                users.iter().any(|one| one == user) && host.users.contains_key(user)
            });
            (!known).then_some(401)
        }
    }
}

fn aspect(mount: Mount<'_>) -> Aspect {
    match mount {
        Mount::Tree(_) => Aspect::Tree,
        Mount::Proxy(_) => Aspect::Proxy,
    }
}

fn content(blob: Hash, media: Option<Media>, by: Subject) -> Answer {
    Answer {
        body: Body::Content(blob),
        media,
        ..refusal(200, Some(by))
    }
}

fn lead(status: u16, location: String, by: Subject) -> Answer {
    Answer {
        location: Some(location),
        ..refusal(status, Some(by))
    }
}

fn refusal(status: u16, by: Option<Subject>) -> Answer {
    Answer {
        status,
        body: Body::Words,
        media: None,
        location: None,
        by,
    }
}
