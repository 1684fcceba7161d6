//! Media types: what the content of a URL is said to be.

use std::fmt;

use ecow::EcoString;
use hence_ledger::Fault;

use crate::words::FORM;

/// A media type, such as `text/html` or `text/plain;charset=utf-8`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Media(EcoString);

impl Media {
    /// The type that is written so.
    pub fn read(text: &str) -> Result<Self, Fault> {
        let plain = |b: u8| b.is_ascii_alphanumeric() || b"!#&^_.+-".contains(&b);
        let is_token = |text: &str| !text.is_empty() && text.bytes().all(plain);
        let mut parts = text.split(';');
        let kind = parts.next().and_then(|kind| kind.split_once('/'));
        let is_kind = kind.is_some_and(|(kind, under)| is_token(kind) && is_token(under));
        let is_parameter = |part: &str| {
            let sides = part.split_once('=');
            sides.is_some_and(|(name, value)| is_token(name) && is_token(value))
        };
        match is_kind && parts.all(is_parameter) {
            true => Ok(Self(text.into())),
            false => Err(Fault::new(format!("`{text}` is no media type"))
                .code(FORM)
                .help("such as `text/html` or `text/plain;charset=utf-8`")),
        }
    }

    /// The type of a file with this name, by what stands behind its last dot. It is the same everywhere, and cannot be
    /// changed; `type` says what one URL is.
    pub fn by_name(name: &str) -> Option<Self> {
        let name = name.rsplit('/').next().unwrap_or(name);
        let (before, extension) = name.rsplit_once('.')?;
        if before.bytes().all(|b| b == b'.') {
            return None;
        }
        let extension = extension.to_ascii_lowercase();
        let known = TABLE
            .iter()
            .find(|(_, extensions)| extensions.contains(&&*extension));
        known.map(|(media, _)| Self((*media).into()))
    }

    /// The type without its parameters.
    pub fn essence(&self) -> &str {
        self.0.split(';').next().unwrap_or_default()
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Media {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Types whose content gets much smaller when it is compressed.
pub const TEXTS: &[&str] = &[
    "application/atom+xml",
    "application/json",
    "application/manifest+json",
    "application/rss+xml",
    "application/wasm",
    "application/xhtml+xml",
    "application/xml",
    "image/svg+xml",
    "text/calendar",
    "text/css",
    "text/csv",
    "text/html",
    "text/javascript",
    "text/markdown",
    "text/plain",
];

/// Types and what names of such files end with.
pub const TABLE: &[(&str, &[&str])] = &[
    ("application/gzip", &["gz"]),
    ("application/json", &["json", "map"]),
    ("application/manifest+json", &["webmanifest"]),
    ("application/octet-stream", &["bin"]),
    ("application/pdf", &["pdf"]),
    ("application/rss+xml", &["rss"]),
    ("application/atom+xml", &["atom"]),
    ("application/wasm", &["wasm"]),
    ("application/xhtml+xml", &["xhtml"]),
    ("application/xml", &["xml"]),
    ("application/zip", &["zip"]),
    ("audio/mpeg", &["mp3"]),
    ("audio/ogg", &["ogg", "oga", "opus"]),
    ("audio/wav", &["wav"]),
    ("font/otf", &["otf"]),
    ("font/ttf", &["ttf"]),
    ("font/woff", &["woff"]),
    ("font/woff2", &["woff2"]),
    ("image/avif", &["avif"]),
    ("image/bmp", &["bmp"]),
    ("image/gif", &["gif"]),
    ("image/jpeg", &["jpg", "jpeg"]),
    ("image/png", &["png"]),
    ("image/svg+xml", &["svg"]),
    ("image/tiff", &["tif", "tiff"]),
    ("image/vnd.microsoft.icon", &["ico"]),
    ("image/webp", &["webp"]),
    ("text/css", &["css"]),
    ("text/csv", &["csv"]),
    ("text/calendar", &["ics"]),
    ("text/html", &["html", "htm"]),
    ("text/javascript", &["js", "mjs"]),
    ("text/markdown", &["md"]),
    ("text/plain", &["txt"]),
    ("video/mp4", &["mp4"]),
    ("video/webm", &["webm"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_dot_decides() {
        let by = |name: &str| Media::by_name(name).map(|media| media.to_string());
        assert_eq!(by("/a.b/c.HTML").as_deref(), Some("text/html"));
        assert_eq!(by("a.html.bak"), None);
        assert_eq!(by("/d.html/x"), None);
        assert_eq!(by(".html"), None);
        assert!(Media::read("text/html;charset=utf-8").is_ok());
        for wrong in ["", "text", "text/", "a/b/c", "a/b;c", "a/b c", "a/$x"] {
            assert!(Media::read(wrong).is_err(), "{wrong}");
        }
    }
}
