//! What is looked at before it is served: mistakes that a server would publish without a word.
//!
//! ```text
//! magic    the content begins as one of another type does than the one it is said to be of
//! script   a program is about to be served as text, for everybody to read
//! secret   a private key, or a file that is not for readers
//! html     a page of which the rest is not seen; smaller mistakes are told, and served
//! quota    the host has more content than it may
//! ```
//!
//! `waive` accepts one at a URL, with a reason that everybody can see. Certificates, and where names lead,
//! are looked at, too.

mod certificate;
mod html;
mod names;
mod vain;

pub use certificate::ageing;
pub use names::{NAMES, Names};
pub use vain::{News, RING, check as in_vain};

use std::collections::BTreeMap;
use std::io;

use hence_ledger::{Change, Hash};
use hence_model::diagnostic::{Code, Diagnostic};

use self::html::Weight;
use crate::address::{Name, Url, encode};
use crate::certificate::Certificates;
use crate::content::{Content, Trees};
use crate::media::Media;
use crate::site::{Host, Site};
use crate::words::{self, Said, Subject};

/// Content should not be served as it is.
pub const CONTENT: Code = Code::new("http.content");
/// A host has more content than it may.
pub const QUOTA: Code = Code::new("http.quota");
/// A certificate cannot be shown for a host.
pub const CERTIFICATE: Code = Code::new("http.certificate");

/// The checks of content that can be waived, by their names.
pub const WAIVABLE: [&str; 4] = ["magic", "script", "secret", "html"];

/// So many warnings are told one by one.
const WARNINGS: usize = 8;

/// What begins like this is of such a type.
const MAGIC: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"\x1f\x8b\x08", "application/gzip"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x00asm", "application/wasm"),
    (b"wOF2", "font/woff2"),
    (b"wOFF", "font/woff"),
    (b"\x7fELF", "application/x-executable"),
];

/// Types whose content can be anything, or is packed in one of the others.
const OPEN: &[&str] = &[
    "application/octet-stream",
    "application/zip",
    "application/gzip",
];

/// What something is looked at for.
#[derive(Clone, Copy)]
pub enum Occasion<'n> {
    /// Somebody asserts it. Names are looked up.
    New(&'n Names<'n>),
    /// It was good once: what only time has changed does not keep it from being served again.
    Again,
}

/// What is looked at.
pub struct Look<'l> {
    /// The content.
    pub content: &'l Content<'l>,
    /// The certificates.
    pub certificates: &'l Certificates<'l>,
    /// The time in milliseconds since 1970.
    pub now: u64,
    /// What for.
    pub occasion: Occasion<'l>,
}

impl Look<'_> {
    /// All that is wrong with what comes with some changes.
    pub fn check(&self, site: &Site, changes: &[Change]) -> io::Result<Vec<Diagnostic>> {
        let (certificates, now, occasion) = (self.certificates, self.now, self.occasion);
        let mut troubles = match occasion {
            Occasion::New(names) => {
                let mut troubles = contents(site, changes, self.content)?;
                troubles.extend(names.check(site, changes));
                troubles
            }
            Occasion::Again => Vec::new(),
        };
        let more = certificate::check(site, changes, certificates, now, occasion)?;
        troubles.extend(more);
        Ok(troubles)
    }
}

/// All that is wrong with content that comes with some changes.
fn contents(site: &Site, changes: &[Change], content: &Content<'_>) -> io::Result<Vec<Diagnostic>> {
    let mut troubles = Vec::new();
    let mut hosts: BTreeMap<&Name, &Host> = BTreeMap::new();
    for change in changes {
        let Some(subject) = Subject::of(&change.key) else {
            continue;
        };
        let Some((name, host)) = subject
            .host()
            .and_then(|name| site.hosts.get_key_value(name))
        else {
            continue;
        };
        hosts.insert(name, host);
        let said = change
            .after
            .as_ref()
            .and_then(|after| words::read(&change.key, &after.value));
        let was = change
            .before
            .as_ref()
            .and_then(|before| words::read(&change.key, &before.value));
        let Some((Subject::At(_, _, url), said)) = said else {
            continue;
        };
        let mut looked = Vec::new();
        match said {
            Said::Blob(hash) => {
                let media = host.types.get(&url).cloned();
                looked.push((
                    url.clone(),
                    hash,
                    media.or_else(|| Media::by_name(url.as_str())),
                ));
            }
            Said::Typed(hash, media) => looked.push((url, hash, Some(media))),
            Said::Tree(hash) => {
                let old = match was {
                    Some((_, Said::Tree(old))) => content.tree(old),
                    _ => None,
                };
                let tree = content.tree(hash).unwrap_or_default();
                for (path, file) in tree.files() {
                    let is_old = old.as_ref().and_then(|old| old.file(path)) == Some(file);
                    if !is_old && let Ok(url) = Url::read(&format!("{url}{}", encode(path))) {
                        let media = host.types.get(&url).cloned();
                        let media = media.or_else(|| Media::by_name(path));
                        looked.push((url, file.hash, media));
                    }
                }
            }
            _ => {}
        }
        for (url, hash, media) in looked {
            troubles.extend(look(name, host, &url, hash, media.as_ref(), content)?);
        }
    }
    for (name, host) in hosts {
        troubles.extend(quota(name, host, content)?);
    }
    Ok(few(troubles))
}

/// All that refuses, and some of what only warns.
fn few(troubles: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let (mut told, warnings): (Vec<_>, Vec<_>) =
        troubles.into_iter().partition(Diagnostic::is_error);
    let left = warnings.len().saturating_sub(WARNINGS);
    told.extend(warnings.into_iter().take(WARNINGS));
    if left > 0 {
        let message = format!("{left} more pages have mistakes in their HTML");
        told.push(Diagnostic::warning(CONTENT, message));
    }
    told
}

fn look(
    name: &Name,
    host: &Host,
    url: &Url,
    hash: Hash,
    media: Option<&Media>,
    content: &Content<'_>,
) -> io::Result<Vec<Diagnostic>> {
    // What is missing is told by whoever needs it.
    let Some(bytes) = content.bytes(hash)? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    let said = media.map_or("", Media::as_str);
    let said = said.split(';').next().unwrap_or("");
    if let Some((_, magic)) = MAGIC.iter().find(|(magic, _)| bytes.starts_with(magic))
        && *magic != said
        && !said.is_empty()
        && !OPEN.contains(&said)
        && !OPEN.contains(magic)
    {
        found.push((
            "magic",
            format!("it is said to be `{said}`, and begins as `{magic}` does"),
        ));
    }
    let is_program = bytes.starts_with(b"#!") || bytes.starts_with(b"<?php");
    if is_program {
        found.push((
            "script",
            "it is a program, and everybody would read it".to_owned(),
        ));
    }
    if let Some(what) = secret(url, &bytes) {
        found.push(("secret", format!("it is {what}")));
    }
    let mut small = None;
    if said == "text/html" {
        let page = html::check(&bytes);
        let (rest, mistakes): (Vec<_>, Vec<_>) = page
            .mistakes
            .into_iter()
            .partition(|mistake| mistake.weight == Weight::Rest);
        found.extend(
            rest.into_iter()
                .map(|mistake| ("html", mistake.to_string())),
        );
        let more = page.more + mistakes.len().saturating_sub(1);
        small = mistakes.into_iter().next().map(|first| match more {
            0 => first.to_string(),
            more => format!("{first}; and {more} more"),
        });
    }
    let waived = |check: &str| host.waived.contains_key(&(check.into(), url.clone()));
    let found = found.into_iter().filter(|(check, _)| !waived(check));
    let told = found.map(|(check, why)| {
        let message = format!("http://{name}{url} should not be served: {why}");
        let help = format!("`assert waive {name} {url} {check} REASON` serves it all the same");
        Diagnostic::error(CONTENT, message).help(help)
    });
    let small = small.filter(|_| !waived("html")).map(|why| {
        let message = format!("http://{name}{url} has mistakes in its HTML: {why}");
        let help = format!("`assert waive {name} {url} html REASON` says that it is to be so");
        Diagnostic::warning(CONTENT, message).help(help)
    });
    Ok(told.chain(small).collect())
}

/// What is not for readers.
fn secret(url: &Url, bytes: &[u8]) -> Option<&'static str> {
    let beginning = &bytes[..bytes.len().min(1 << 16)];
    let holds = |text: &[u8]| beginning.windows(text.len()).any(|window| window == text);
    let name = url.segments().next_back().unwrap_or("");
    if holds(b"PRIVATE KEY-----") {
        return Some("a private key");
    }
    match name {
        ".htpasswd" | ".netrc" | ".pgpass" => Some("a file of passwords"),
        ".env" => Some("a file of settings and passwords"),
        _ if url.segments().any(|segment| segment == ".git") => {
            Some("the inside of a git repository")
        }
        _ => None,
    }
}

fn quota(name: &Name, host: &Host, content: &Content<'_>) -> io::Result<Option<Diagnostic>> {
    let Some(most) = host.quota else {
        return Ok(None);
    };
    let trees = host.trees.values().filter_map(|tree| content.tree(*tree));
    let mut size: u64 = trees.map(|tree| tree.size()).sum();
    let blobs = host
        .files
        .values()
        .chain(host.indexes.values().map(|(blob, _)| blob));
    for blob in blobs {
        size += content.size(*blob)?.unwrap_or(0);
    }
    Ok((size > most).then(|| {
        let message = format!("`{name}` may have {most} bytes of content, and would have {size}");
        let trouble =
            Diagnostic::error(QUOTA, message).path(Subject::Quota(name.clone()).to_string());
        trouble.help("retract something, or `assert quota` with more")
    }))
}
