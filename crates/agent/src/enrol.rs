//! How an agent comes to a token of its own.

use std::path::Path;

use hence_api::words::{About, Enrolled, Enrolment};
use hence_api::{Address, Client, Failure, Join};
use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::state::{not_newer, replace};
use crate::{Doing, Error};

/// Who an agent is, to its server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The form of the file.
    #[serde(default = "first")]
    format: u32,
    /// The server.
    pub server: String,
    /// The node.
    pub node: String,
    /// Its own token.
    pub token: String,
    /// The certificate that the server must show, in PEM.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<String>,
}

/// A newer one is not touched.
const FORMAT: u32 = 1;

fn first() -> u32 {
    1
}

const FILE: &str = "identity.json";
/// Who the agent will be, if the server agrees.
const PENDING: &str = "enrolling.json";

impl Identity {
    /// Where the server is.
    pub fn address(&self) -> Address {
        Address {
            server: self.server.clone(),
            token: self.token.clone(),
            certificates: self.certificate.clone(),
        }
    }
}

/// Who the agent is; nothing if it has not enrolled.
pub fn identity(host: &dyn Host, directory: &Path) -> Result<Option<Identity>, Error> {
    read(host, &directory.join(FILE))
}

fn read(host: &dyn Host, path: &Path) -> Result<Option<Identity>, Error> {
    let doing = || format!("reading `{}`", path.display());
    match host.read(path).doing(doing)? {
        None => Ok(None),
        Some(content) => {
            not_newer(&content, FORMAT).doing(doing)?;
            let read = serde_json::from_slice(&content).map_err(std::io::Error::other);
            read.doing(doing).map(Some)
        }
    }
}

/// Makes a token, and lets the server know it in exchange for that of a join. It is on the disk before anybody hears of it,
/// so an agent that ended without an answer says the same again, and is known by it.
pub fn enrol(
    host: &dyn Host,
    directory: &Path,
    node: &str,
    join: &Join,
) -> Result<Result<Identity, Failure>, Error> {
    let made = host.make_directory(directory);
    made.doing(|| format!("making `{}`", directory.display()))?;
    let pending = directory.join(PENDING);
    let begun = read(host, &pending)?;
    let is_this = |begun: &Identity| {
        begun.server == join.server && begun.node.to_lowercase() == node.to_lowercase()
    };
    let begun = begun.filter(is_this);
    let mut identity = Identity {
        format: FORMAT,
        server: join.server.clone(),
        node: node.to_owned(),
        token: match begun {
            Some(begun) => begun.token,
            None => token(host)?,
        },
        certificate: join.certificate.clone(),
    };
    keep(host, &pending, &identity)?;
    let address = Address {
        token: join.token.clone(),
        ..identity.address()
    };
    let enrolment = Enrolment {
        node: node.to_owned(),
        token: identity.token.clone(),
    };
    let client = Client::new(address).map_err(Failure::Unreachable);
    let enrolled = client.and_then(|client| client.post("enrolments", &enrolment));
    let spelling = match enrolled {
        Ok(Enrolled { node }) => node,
        // The word is worth nothing any more, but was heard when it was.
        Err(Failure::Refused(401, _)) if is_known(&identity) => identity.node.clone(),
        Err(failure) => return Ok(Err(failure)),
    };
    if identity.node != spelling {
        identity.node = spelling;
        keep(host, &pending, &identity)?;
    }
    let path = directory.join(FILE);
    let renamed = host.rename(&pending, &path);
    renamed.doing(|| format!("writing `{}`", path.display()))?;
    Ok(Ok(identity))
}

/// Whether the server knows the token already.
fn is_known(identity: &Identity) -> bool {
    let client = Client::new(identity.address());
    client.is_ok_and(|client| client.get::<About>("").is_ok())
}

fn keep(host: &dyn Host, path: &Path, identity: &Identity) -> Result<(), Error> {
    let text = serde_json::to_vec_pretty(identity).expect("an identity can be written");
    replace(host, path, &text, 0o600)
}

/// A new token: 256 bits that nobody can guess.
fn token(host: &dyn Host) -> Result<String, Error> {
    let secret = host.secret().doing(|| "making a token".to_owned())?;
    let digits = secret.iter().map(|byte| format!("{byte:02x}"));
    Ok(format!("hence_{}", digits.collect::<String>()))
}
