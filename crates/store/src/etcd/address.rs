//! Where a cluster is, and how it is to be spoken to.

use std::fmt;
use std::str::FromStr;

use crate::Error;
use crate::error::ADDRESS;

/// A ledger in a cluster: `etcd://[USER@]HOST[:PORT][,HOST[:PORT]…][/PREFIX]`, or `etcds://` with TLS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Whether by TLS.
    pub secure: bool,
    /// Who asks; nobody in particular if the cluster has no users.
    pub user: Option<String>,
    /// The members that may be asked, each with its port.
    pub members: Vec<String>,
    /// What the keys of this ledger begin with.
    pub prefix: String,
}

const PORT: u16 = 2379;
const PREFIX: &str = "hence";
const FORM: &str =
    "an address is written `etcd://[USER@]HOST:PORT[,HOST:PORT…]/PREFIX`, with TLS `etcds://`";

impl Address {
    /// Whether it is meant to be one: other names of ledgers are directories.
    pub fn is_meant(text: &str) -> bool {
        text.starts_with("etcd://") || text.starts_with("etcds://")
    }
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let rest = text.strip_prefix("etcd://").map(|rest| (false, rest));
        let rest = rest.or_else(|| text.strip_prefix("etcds://").map(|rest| (true, rest)));
        let (secure, rest) = rest.ok_or_else(|| wrong("it begins with neither"))?;
        let (authority, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, members) = match authority.rsplit_once('@') {
            Some((user, members)) => (Some(user), members),
            None => (None, authority),
        };
        if user.is_some_and(|user| user.contains(':')) {
            let message = "a password has no place in an address, where others can read it";
            return Err(Error::new(ADDRESS, message)
                .help("leave it out, and put it into the variable HENCE_ETCD_PASSWORD"));
        }
        if user.is_some_and(str::is_empty) {
            return Err(wrong("there is no user before `@`"));
        }
        let members: Result<Vec<String>, Error> = members.split(',').map(member).collect();
        let prefix = prefix.trim_matches('/');
        // What comes behind the prefix begins with a colon, so no ledger is inside of another.
        if prefix.contains(|c: char| c == ':' || c.is_control()) {
            return Err(wrong("the prefix has a colon or a control character"));
        }
        Ok(Self {
            secure,
            user: user.map(str::to_owned),
            members: members?,
            prefix: match prefix {
                "" => PREFIX.to_owned(),
                prefix => prefix.to_owned(),
            },
        })
    }
}

fn wrong(what: &str) -> Error {
    Error::new(
        ADDRESS,
        format!("the address of the store is wrong: {what}"),
    )
    .help(FORM)
}

fn member(text: &str) -> Result<String, Error> {
    // An IPv6 address is in brackets, and only there are colons not about the port.
    let end = text.rfind(']').map_or(0, |end| end + 1);
    let (host, port) = match text[end..].split_once(':') {
        Some((rest, port)) => (&text[..end + rest.len()], port.parse().ok()),
        None => (text, Some(PORT)),
    };
    let is_host = |host: &str| {
        let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let inside = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        match inside {
            Some(inside) => inside.parse::<std::net::Ipv6Addr>().is_ok(),
            None => !host.is_empty() && host.chars().all(name),
        }
    };
    match port {
        Some(port) if is_host(host) && port != 0 => Ok(format!("{host}:{port}")),
        _ => Err(wrong(&format!("`{text}` is no HOST:PORT"))),
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.secure {
            true => "etcds://",
            false => "etcd://",
        })?;
        if let Some(user) = &self.user {
            write!(f, "{user}@")?;
        }
        write!(f, "{}/{}", self.members.join(","), self.prefix)
    }
}

/// What opens a cluster beside its address, and is not for everybody to see.
#[derive(Clone, Default)]
pub struct Credentials {
    /// The password of the user.
    pub password: Option<String>,
    /// The certificates that those of the members go back to, as PEM.
    pub authorities: Option<Vec<u8>>,
    /// The certificate, and those it goes back to, that is shown to the members, as PEM.
    pub certificate: Option<Vec<u8>>,
    /// The key of that certificate, as PEM.
    pub key: Option<Vec<u8>>,
}
