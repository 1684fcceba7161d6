//! Addresses of things, and what can be asked of their parts.

use std::fmt;

use ecow::EcoString;

use crate::compare;
use crate::trace::Origin;
use crate::value::{Datum, Hash, Value};

use super::printf::inspected;

/// An address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Uri {
    /// What stands before the first colon.
    pub scheme: Option<EcoString>,
    /// Who asks.
    pub userinfo: Option<EcoString>,
    /// Whom.
    pub host: Option<EcoString>,
    /// Behind which number.
    pub port: Option<u16>,
    /// What is asked for.
    pub path: Option<EcoString>,
    /// What stands behind `?`.
    pub query: Option<EcoString>,
    /// What stands behind `#`.
    pub fragment: Option<EcoString>,
    /// All behind the scheme, if it has no parts.
    pub opaque: Option<EcoString>,
}

impl Uri {
    /// Reads an address. The trouble with it is told in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let trouble = || format!("bad URI(is not URI?): {}", inspected(text));
        let (rest, fragment) = match text.split_once('#') {
            Some((rest, fragment)) => (rest, Some(fragment)),
            None => (text, None),
        };
        let (scheme, rest) = match rest.split_once(':') {
            Some((scheme, rest)) if is_scheme(scheme) => (Some(scheme.to_lowercase()), rest),
            _ => (None, rest),
        };
        let mut uri = Uri {
            scheme: scheme.map(EcoString::from),
            fragment: fragment.map(EcoString::from),
            ..Uri::default()
        };
        if uri.scheme.is_some() && !rest.starts_with('/') && !rest.is_empty() {
            uri.opaque = Some(rest.into());
            return match is_written(rest, "/?") && fragment.is_none_or(|it| is_written(it, "/?")) {
                true => Ok(uri),
                false => Err(trouble()),
            };
        }
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        let path = match rest.strip_prefix("//") {
            Some(rest) => {
                let end = rest.find('/').unwrap_or(rest.len());
                let (authority, path) = rest.split_at(end);
                let (userinfo, host) = match authority.rsplit_once('@') {
                    Some((userinfo, host)) => (Some(userinfo), host),
                    None => (None, authority),
                };
                let (host, port) = match host.rsplit_once(':') {
                    Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
                        (host, Some(port))
                    }
                    _ => (host, None),
                };
                let bracketed = host.starts_with('[') && host.ends_with(']');
                let fine = bracketed || is_written(host, "") && !host.contains([':', '@']);
                if !fine || userinfo.is_some_and(|it| !is_written(it, "")) {
                    return Err(trouble());
                }
                uri.userinfo = userinfo.map(EcoString::from);
                uri.host = Some(host.into());
                uri.port = match port {
                    None | Some("") => None,
                    Some(port) => Some(port.parse().map_err(|_| trouble())?),
                };
                path
            }
            None => rest,
        };
        // Without a scheme, what looks like one is none.
        let first = path.split('/').next().unwrap_or("");
        if uri.scheme.is_none() && first.contains(':') {
            return Err(trouble());
        }
        let parts = [Some(path), query, fragment];
        if !parts
            .into_iter()
            .flatten()
            .all(|part| is_written(part, "/?"))
        {
            return Err(trouble());
        }
        uri.port = uri.port.or(usual_port(uri.scheme.as_deref()));
        uri.path = Some(path.into());
        uri.query = query.map(EcoString::from);
        Ok(uri)
    }

    /// Makes an address of its parts.
    pub(super) fn from_parts(parts: &Hash) -> Self {
        let part = |name: &str| match parts.get_text(name).map(|value| &value.datum) {
            Some(Datum::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let scheme = part("scheme");
        let port = match parts.get_text("port").map(|value| &value.datum) {
            Some(Datum::Integer(port)) => u16::try_from(*port).ok(),
            _ => usual_port(scheme.as_deref()),
        };
        Self {
            userinfo: part("userinfo"),
            host: part("host"),
            port,
            path: Some(part("path").unwrap_or_default()),
            query: part("query"),
            fragment: part("fragment"),
            opaque: part("opaque"),
            scheme,
        }
    }

    /// Whether a key names a part of an address.
    pub(crate) fn is_part(name: &Datum) -> bool {
        let names = [
            "scheme", "userinfo", "host", "port", "path", "query", "fragment", "opaque",
        ];
        matches!(name, Datum::Text(name) if names.contains(&name.as_str()))
    }

    /// The parts that are there, as a type asks for them; nothing if there are none.
    pub(super) fn parts(&self) -> Option<Hash> {
        let lower = |text: &Option<EcoString>| text.as_ref().map(|text| text.to_lowercase());
        let usual = match self.scheme.as_deref() {
            Some("http") => Some(80),
            Some("https") => Some(443),
            _ => None,
        };
        let filled = |text: EcoString| (!text.is_empty()).then_some(text);
        let port = self.port.filter(|port| Some(*port) != usual);
        let parts = [
            ("scheme", lower(&self.scheme)),
            ("userinfo", self.userinfo.clone()),
            ("host", lower(&self.host).and_then(filled)),
            ("port", port.map(|port| ecow::eco_format!("{port}"))),
            ("path", self.path.clone().and_then(filled)),
            ("query", self.query.clone()),
            ("fragment", self.fragment.clone()),
            ("opaque", self.opaque.clone()),
        ];
        // Parts of a type are compared and shown, never asked where they come from.
        let nowhere = Origin::written(0);
        let hash: Hash = parts
            .into_iter()
            .filter_map(|(name, part)| {
                let part = part?;
                Some((Value::new(name, nowhere), Value::new(part, nowhere)))
            })
            .collect();
        (!hash.is_empty()).then_some(hash)
    }

    /// Where another address leads from this one (RFC 3986, 5.2.2). Two relative ones lead nowhere.
    pub fn resolve(&self, other: &Uri) -> Option<Uri> {
        if other.scheme.is_some() {
            return Some(other.clone());
        }
        self.scheme.as_ref()?;
        let mut found = Uri {
            scheme: self.scheme.clone(),
            ..other.clone()
        };
        // Who asks stays the same, as Ruby has it.
        found.userinfo = other.userinfo.clone().or(self.userinfo.clone());
        if other.host.is_some() {
            return Some(found);
        }
        found.host = self.host.clone();
        found.port = self.port;
        let (base, path) = (self.path.as_deref(), other.path.as_deref().unwrap_or(""));
        if path.is_empty() {
            found.path = self.path.clone();
            found.query = other.query.clone().or(self.query.clone());
            return Some(found);
        }
        let folder = base.and_then(|base| base.rfind('/').map(|at| &base[..=at]));
        found.path = Some(match path.starts_with('/') {
            true => without_dots(path),
            false => without_dots(&[folder.unwrap_or("/"), path].concat()),
        });
        Some(found)
    }

    /// A part by its name.
    pub fn part(&self, name: &str) -> Datum {
        let text = match name {
            "scheme" => &self.scheme,
            "userinfo" => &self.userinfo,
            "host" => &self.host,
            "port" => {
                return self
                    .port
                    .map_or(Datum::Undef, |port| i64::from(port).into());
            }
            "path" => &self.path,
            "query" => &self.query,
            "fragment" => &self.fragment,
            "opaque" => &self.opaque,
            _ => return Datum::Undef,
        };
        text.clone().map_or(Datum::Undef, Datum::Text)
    }

    /// Whether all its parts match what is asked of them.
    pub(super) fn matches(&self, parts: &Hash) -> bool {
        parts.iter().all(|(name, entry)| match name {
            Datum::Text(name) => compare::matches(&self.part(name), &entry.value.datum),
            _ => false,
        })
    }
}

/// A path that begins with `/`, with its `.` and `..` followed (RFC 3986, 5.2.4).
fn without_dots(path: &str) -> EcoString {
    let mut kept: Vec<&str> = Vec::new();
    let mut segments = path[1..].split('/').peekable();
    while let Some(segment) = segments.next() {
        let is_last = segments.peek().is_none();
        match segment {
            "." | ".." => {
                if segment == ".." {
                    kept.pop();
                }
                if is_last {
                    kept.push("");
                }
            }
            segment => kept.push(segment),
        }
    }
    ["/", &kept.join("/")].concat().into()
}

/// Whether whatever has some parts matches what is asked of them.
pub(super) fn parts_cover(wanted: &Hash, given: Option<&Hash>) -> bool {
    wanted.iter().all(|(name, entry)| {
        let Some(given) = given.and_then(|given| given.get(name)) else {
            return false;
        };
        let narrower = match (&entry.value.datum, &given.datum) {
            (Datum::Type(wanted), Datum::Type(given)) => wanted.assignable(given),
            _ => false,
        };
        narrower || compare::matches(&given.datum, &entry.value.datum)
    })
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(scheme) = &self.scheme {
            write!(f, "{scheme}:")?;
        }
        if let Some(opaque) = &self.opaque {
            f.write_str(opaque)?;
        } else {
            if self.host.is_some() || matches!(self.scheme.as_deref(), Some("file" | "postgres")) {
                f.write_str("//")?;
            }
            if let Some(userinfo) = &self.userinfo {
                write!(f, "{userinfo}@")?;
            }
            if let Some(host) = &self.host {
                f.write_str(host)?;
            }
            if let Some(port) = self.port
                && Some(port) != usual_port(self.scheme.as_deref())
            {
                write!(f, ":{port}")?;
            }
            if let Some(path) = &self.path {
                f.write_str(path)?;
            }
            if let Some(query) = &self.query {
                write!(f, "?{query}")?;
            }
        }
        match &self.fragment {
            Some(fragment) => write!(f, "#{fragment}"),
            None => Ok(()),
        }
    }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Whether a part of an address has only letters that can be there, besides some others.
fn is_written(text: &str, others: &str) -> bool {
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let fine = match byte {
            b'%' => {
                let mut hex = || bytes.next().is_some_and(|byte| byte.is_ascii_hexdigit());
                hex() && hex()
            }
            byte => {
                byte.is_ascii_alphanumeric()
                    || b"-._~!$&'()*+,;=:@".contains(&byte)
                    || others.as_bytes().contains(&byte)
            }
        };
        if !fine {
            return false;
        }
    }
    true
}

/// The port that need not be said.
fn usual_port(scheme: Option<&str>) -> Option<u16> {
    Some(match scheme? {
        "http" | "ws" => 80,
        "https" | "wss" => 443,
        "ftp" => 21,
        "ldap" => 389,
        "ldaps" => 636,
        _ => return None,
    })
}
