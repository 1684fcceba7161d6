//! How an agent comes to a token of its own.

use std::path::Path;

use hence_api::words::{Enrolled, Enrolment};
use hence_api::{Address, Client, Failure, Join};
use serde::{Deserialize, Serialize};

use crate::host::Host;
use crate::state::replace;
use crate::{Doing, Error};

/// Who an agent is, to its server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
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

const FILE: &str = "identity.json";

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
    let path = directory.join(FILE);
    let doing = || format!("reading `{}`", path.display());
    match host.read(&path).doing(doing)? {
        None => Ok(None),
        Some(content) => {
            let read = serde_json::from_slice(&content).map_err(std::io::Error::other);
            read.doing(doing).map(Some)
        }
    }
}

/// Trades the token of a join for the node's own, and keeps that. The one of the join is never sent again.
pub fn enrol(
    host: &dyn Host,
    directory: &Path,
    node: &str,
    join: &Join,
) -> Result<Result<Identity, Failure>, Error> {
    let path = directory.join(FILE);
    let made = host.make_directory(directory);
    made.doing(|| format!("making `{}`", directory.display()))?;
    // The token is told once: whoever could not keep it must not ask.
    replace(host, &directory.join("enrolling"), b"", 0o600)?;
    let address = Address {
        server: join.server.clone(),
        token: join.token.clone(),
        certificates: join.certificate.clone(),
    };
    let client = Client::new(address).map_err(Failure::Unreachable);
    let name = Enrolment {
        node: node.to_owned(),
    };
    let enrolled = client.and_then(|client| client.post("enrolments", &name));
    let enrolled: Enrolled = match enrolled {
        Ok(enrolled) => enrolled,
        Err(failure) => return Ok(Err(failure)),
    };
    let identity = Identity {
        server: join.server.clone(),
        node: enrolled.node,
        token: enrolled.token,
        certificate: join.certificate.clone(),
    };
    let text = serde_json::to_vec_pretty(&identity).expect("an identity can be written");
    replace(host, &path, &text, 0o600)?;
    let removed = host.remove(&directory.join("enrolling"));
    removed.doing(|| format!("tidying `{}`", directory.display()))?;
    Ok(Ok(identity))
}
