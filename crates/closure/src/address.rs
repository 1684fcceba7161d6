//! Where things are on the web: names of hosts, paths of URLs, endpoints. Each has one spelling.

use std::fmt;
use std::net::SocketAddr;

use ecow::EcoString;
use hence_ledger::Fault;

use crate::words::FORM;

/// The name of a host, in small letters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Name(EcoString);

impl Name {
    /// The name that is written so, in any case.
    pub fn read(text: &str) -> Result<Self, Fault> {
        let folded = text.to_ascii_lowercase();
        let is_label = |label: &str| {
            let inner = label.bytes();
            let fits = (1..=63).contains(&label.len());
            let plain = inner
                .clone()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-');
            fits && plain && !label.starts_with('-') && !label.ends_with('-')
        };
        match folded.len() <= 253 && folded.split('.').all(is_label) {
            true => Ok(Self(folded.into())),
            false => Err(fault(format!("`{text}` is no name of a host")).help(Self::instead(text))),
        }
    }

    /// What to write instead of something that is no name.
    fn instead(text: &str) -> String {
        match text.strip_suffix('.') {
            Some(rest) if Self::read(rest).is_ok() => {
                format!("`{rest}`, without the dot at its end")
            }
            _ if !text.is_ascii() => {
                "names in other letters are written as the name service knows them: `xn--…`"
                    .to_owned()
            }
            _ if text.contains('*') => {
                "every name is asserted: as a `host`, or as an `alias` of one".to_owned()
            }
            _ => "such as `www.example.org`: letters, digits and `-`, parted by `.`".to_owned(),
        }
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The path of a URL, decoded: `/`, `/products/`, `/a b.html`. It names a directory if it ends with `/`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Url(EcoString);

impl Url {
    /// The root of a host.
    pub fn root() -> Self {
        Self("/".into())
    }

    /// The path that is written so. It must be the only way to write it, but for `%` and two digits.
    pub fn read(text: &str) -> Result<Self, Fault> {
        let wrong = |why: &str| Err(fault(format!("`{text}` is no path of a URL: {why}")));
        if !text.starts_with('/') {
            return wrong("it begins with `/`")
                .map_err(|fault| fault.help(format!("`/{text}`, perhaps")));
        }
        let Some(decoded) = decode(text) else {
            return wrong("behind `%` stand two hexadecimal digits, and all of it is UTF-8");
        };
        if text.contains(['?', '#']) {
            return wrong("queries and fragments are not served");
        }
        let mut segments: Vec<&str> = decoded.split('/').skip(1).collect();
        if segments.last() == Some(&"") {
            segments.pop();
        }
        if segments.iter().any(|segment| segment.is_empty()) {
            return wrong("`//` is written `/`");
        }
        if segments
            .iter()
            .any(|segment| matches!(*segment, "." | ".."))
        {
            return wrong("`.` and `..` lead elsewhere");
        }
        if decoded.chars().any(char::is_control) {
            return wrong("it has no control characters");
        }
        Ok(Self(decoded.into()))
    }

    /// The path that a request asks for, in its one spelling: slashes merged, dots followed. `None` if it is none.
    pub fn requested(text: &str) -> Option<Self> {
        let path = text.split(['?', '#']).next()?;
        let decoded = decode(path)?;
        if !decoded.starts_with('/') || decoded.contains('\0') {
            return None;
        }
        let mut segments: Vec<&str> = Vec::new();
        let parts = decoded.split('/').skip(1);
        let is_directory =
            decoded.ends_with('/') || decoded.ends_with("/.") || decoded.ends_with("/..");
        for part in parts {
            match part {
                "" | "." => {}
                ".." => drop(segments.pop()?),
                part => segments.push(part),
            }
        }
        Some(Self::of(&segments, is_directory))
    }

    /// The path of these segments.
    pub fn of(segments: &[&str], is_directory: bool) -> Self {
        let mut path = EcoString::from("/");
        path.push_str(&segments.join("/"));
        if is_directory && !segments.is_empty() {
            path.push('/');
        }
        Self(path)
    }

    /// Decoded, as it was read.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it ends with `/`.
    pub fn is_directory(&self) -> bool {
        self.0.ends_with('/')
    }

    /// Its names, without slashes.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/').filter(|segment| !segment.is_empty())
    }

    /// The same path as the name of a directory.
    pub fn as_directory(&self) -> Self {
        match self.is_directory() {
            true => self.clone(),
            false => Self(ecow::eco_format!("{}/", self.0)),
        }
    }

    /// The same path without a slash at its end; the root has no such name.
    pub fn as_file(&self) -> Option<Self> {
        let path = self.0.strip_suffix('/').unwrap_or(&self.0);
        (!path.is_empty()).then(|| Self(path.into()))
    }

    /// The directories that it is in, the nearest first; a directory is in itself.
    pub fn directories(&self) -> impl Iterator<Item = Url> {
        let mut rest = Some(&self.0[..]);
        std::iter::from_fn(move || {
            let end = rest?.rfind('/')?;
            let directory = &rest?[..=end];
            rest = Some(&rest?[..end]);
            Some(Self(directory.into()))
        })
    }

    /// What it is below a directory that it is in.
    pub fn below(&self, directory: &Url) -> Option<&str> {
        self.0.strip_prefix(directory.0.as_str())
    }
}

impl fmt::Display for Url {
    /// As it stands in a request and in commands.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&encode(&self.0))
    }
}

/// Where a server listens.
pub type Endpoint = SocketAddr;

/// The endpoint that is written so.
pub fn endpoint(text: &str) -> Result<Endpoint, Fault> {
    let read = text.parse().ok();
    // Port 0 is any that is free, and another one each time.
    let read = read.filter(|endpoint: &Endpoint| endpoint.port() != 0);
    read.ok_or_else(|| {
        fault(format!("`{text}` is no endpoint"))
            .help("an address and a port, such as `127.0.0.1:8080` or `[::1]:8080`")
    })
}

/// A text as it can stand in a URL, slashes and all.
pub fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'/' | b'-' | b'.' | b'_' | b'~' | b'+' | b'=' | b'@' | b':' | b',' | b'!' => {
                encoded.push(byte.into());
            }
            byte if byte.is_ascii_alphanumeric() => encoded.push(byte.into()),
            byte => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// A text as it was before it stood in a URL; none if it cannot have stood there.
pub fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |at: usize| char::from(*rest.get(at)?).to_digit(16);
        bytes.push((digit(0)? * 16 + digit(1)?) as u8);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

fn fault(message: String) -> Fault {
    Fault::new(message).code(FORM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_spelling() {
        for wrong in [
            "", "a", "//", "/a//b", "/./a", "/a/..", "/%", "/%zz", "/%ff", "/a?b", "/%0a",
        ] {
            assert!(Url::read(wrong).is_err(), "{wrong}");
        }
        assert_eq!(Url::read("/a%20b/").unwrap().as_str(), "/a b/");
        assert_eq!(Url::read("/a%20b/").unwrap().to_string(), "/a%20b/");
        assert_eq!(Url::requested("//a/./b/../c?q").unwrap().as_str(), "/a/c");
        assert_eq!(Url::requested("/a/.").unwrap().as_str(), "/a/");
        assert_eq!(Url::requested("/../a"), None);
    }

    #[test]
    fn a_path_is_in_its_directories() {
        let url = Url::read("/a/b/c").unwrap();
        let directories: Vec<String> = url.directories().map(|url| url.to_string()).collect();
        assert_eq!(directories, ["/a/b/", "/a/", "/"]);
        assert_eq!(Url::root().directories().count(), 1);
        assert_eq!(url.below(&Url::read("/a/").unwrap()), Some("b/c"));
    }

    #[test]
    fn a_host_has_a_name() {
        assert_eq!(Name::read("Foo.Test").unwrap().as_str(), "foo.test");
        for wrong in ["", "a..b", "-a", "a_b", "a b", "*.a", "é"] {
            assert!(Name::read(wrong).is_err(), "{wrong}");
        }
    }
}
